"""The gate in front of the tools: the one of a library, or without it that of the lesson.

A step has to run on a bare Python. There `validate` checks, which converts nothing and knows only
simple schemas.
"""

import copy
from typing import cast

from .coercion import Schema
from .tool_types import ParametersSchema
from .validate import Invalid, Valid, validate
from .validate import schema_faults as simple_schema_faults

try:
    from . import arguments
except ModuleNotFoundError:
    arguments = None  # type: ignore[assignment]


def check_arguments(schema: Schema, value: object) -> Valid | Invalid:
    """Return a copy of the arguments that a tool may rely on, or what is wrong with them."""
    if arguments is None:
        return validate(cast(ParametersSchema, schema), copy.deepcopy(value))
    return arguments.check_arguments(schema, value)


def schema_faults(schema: Schema) -> list[str]:
    """Return what is wrong with a schema, in words for the author of the tool."""
    if arguments is None:
        return simple_schema_faults(cast(ParametersSchema, schema))
    return arguments.schema_faults(schema)
