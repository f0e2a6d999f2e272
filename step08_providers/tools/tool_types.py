"""What a tool is: the spec that goes to the model, and the code that stays here.

The spec must travel as JSON inside a request, and a function cannot; so they are two types.
"""

from collections.abc import Awaitable, Callable
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
    """All parameters of a tool: this is JSON Schema. Other names than these are refused."""

    type: Literal["object"]
    properties: dict[str, PropertySchema]
    required: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of its surroundings: `cwd` is the folder that it works in.

    `cancel` is the run that it belongs to. A tool that takes long should look there.
    """

    cwd: Path
    cancel: CancelToken = field(default_factory=CancelToken)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers: text for the model, and whether it is bad news."""

    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told about a tool. The better the description, the fewer wrong calls."""

    name: str
    description: str
    parameters: ParametersSchema


@dataclass(frozen=True, slots=True)
class ToolDefinition(ToolSpec):
    """A spec together with its code, which gets arguments that `validate` has let through."""

    execute: Callable[[dict[str, object], ToolContext], Awaitable[ToolResult]]
