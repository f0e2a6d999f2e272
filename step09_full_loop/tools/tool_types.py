"""What a tool is: the spec that goes to the model, and the code that stays here.

The spec must travel as JSON inside a request, and a function cannot; so they are two types.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from ..cancel import CancelToken
from .quoting import quoted as quoted


class PropertySchema(TypedDict):
    """One parameter, in the words of JSON Schema."""

    type: Literal["string", "number", "boolean"]
    description: NotRequired[str]


class ParametersSchema(TypedDict):
    """All parameters of a simple tool: this is JSON Schema."""

    type: Literal["object"]
    properties: dict[str, PropertySchema]
    required: NotRequired[list[str]]


def tell_nobody(text: str) -> None:
    """What becomes of the progress of a tool that runs without a loop."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of its surroundings: `cwd` is the folder that it works in.

    `cancel` is the run that it belongs to. A tool that takes long should look there, and call
    `update` with a text now and then: people see it, the model does not.
    """

    cwd: Path
    cancel: CancelToken = field(default_factory=CancelToken)
    update: Callable[[str], None] = tell_nobody


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers: text for the model, and whether it is bad news.

    With `terminate` the model is not asked again, if all tools of its answer say so.
    """

    content: str
    is_error: bool = False
    terminate: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told about a tool. The better the description, the fewer wrong calls."""

    name: str
    description: str
    parameters: Mapping[str, object]


ExecutionMode = Literal["parallel", "sequential"]


@dataclass(frozen=True, slots=True)
class ToolDefinition(ToolSpec):
    """A spec together with its code, which gets arguments that fit the schema.

    A tool that must be alone, such as one that changes files, is `sequential`: all calls of an
    answer that names it run one after the other. `prepare_arguments` may change what the model has
    sent, before it is checked.
    """

    execute: Callable[[dict[str, object], ToolContext], Awaitable[ToolResult]]
    execution_mode: ExecutionMode = "parallel"
    prepare_arguments: Callable[[dict[str, object]], dict[str, object]] | None = None
