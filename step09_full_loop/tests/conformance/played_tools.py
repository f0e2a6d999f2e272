"""The tools of a scenario: four kinds, with options for everything that a tool may do."""

import ast
import asyncio
import math
import operator
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ...tools.registry import ToolRegistry
from ...tools.tool_types import ToolContext, ToolDefinition, ToolResult
from .lines import NoContent, js_json, js_number
from .played_model import PlayedError

Wait = Callable[[float], Awaitable[None]]
Options = dict[str, Any]
OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: math.fmod,
    ast.Pow: math.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


async def calc(arguments: dict[str, Any], wait: Wait) -> str:
    expression = str(arguments["expression"])
    try:
        if re.fullmatch(r"[-+*/%(). 0-9]+", expression):
            return js_number(value_of(ast.parse(expression.strip(), mode="eval").body))
    except (SyntaxError, KeyError, OverflowError):
        pass
    raise PlayedError(f"bad expression: {expression}")


def value_of(node: ast.AST) -> float:
    """Return the value of an expression with the floating-point numbers of JavaScript."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=op, operand=one):
            return OPERATORS[type(op)](value_of(one))
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            above, below = value_of(left), value_of(right)
            if below:
                return above / below
            return math.copysign(math.inf, above * math.copysign(1, below)) if above else math.nan
        case ast.BinOp(op=op, left=left, right=right):
            return OPERATORS[type(op)](value_of(left), value_of(right))
    raise SyntaxError


async def echo(arguments: dict[str, Any], wait: Wait) -> str:
    return f"echo:{js_json(arguments)}"


async def fail(arguments: dict[str, Any], wait: Wait) -> str:
    raise PlayedError("tool exploded")


async def slow(arguments: dict[str, Any], wait: Wait) -> str:
    await wait(arguments["ms"])
    return f"slept {js_number(arguments['ms'])}"


KINDS: dict[str, tuple[dict[str, str], Callable[[dict[str, Any], Wait], Awaitable[str]]]] = {
    "calc": ({"expression": "string"}, calc),
    "echo": ({"value": "string"}, echo),
    "fail": ({}, fail),
    "slow": ({"ms": "number"}, slow),
}


class OfCall(dict[str, Any]):
    """The arguments of one call. The loop gives a tool no id of the call, so it is in here."""

    def __init__(self, arguments: dict[str, Any], call_id: str) -> None:
        super().__init__(arguments)
        self.call_id = call_id


@dataclass(frozen=True, slots=True)
class PlayedTools:
    """Makes the tools. `runs` is called as one begins to run."""

    runs: Callable[[str, dict[str, Any]], None]

    def registry(self, tools: dict[str, Options]) -> ToolRegistry:
        registry = ToolRegistry()
        for name, options in tools.items():
            registry.register(self._tool(name, options))
        return registry

    def _tool(self, name: str, options: Options) -> ToolDefinition:
        properties, work = KINDS[options.get("kind") or name]
        schema = options.get("schema") or {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": [*properties],
            "additionalProperties": False,
        }

        async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
            return await self._run(options, work, arguments, context)

        return ToolDefinition(
            name,
            name,
            schema,
            execute,
            options.get("executionMode") or "parallel",
            preparing(options),
        )

    async def _run(
        self,
        options: Options,
        work: Callable[[dict[str, Any], Wait], Awaitable[str]],
        arguments: dict[str, Any],
        context: ToolContext,
    ) -> ToolResult:
        assert isinstance(arguments, OfCall)
        self.runs(arguments.call_id, arguments)

        async def wait(ms: float) -> None:
            if options.get("ignoreAbort"):
                await asyncio.sleep(ms / 1000)
                return
            try:
                async with asyncio.timeout(ms / 1000):
                    await context.cancel.wait()
            except TimeoutError:
                return
            raise PlayedError("aborted")

        for n in range(1, options.get("updates", 0) + 1):
            context.update(f"update {n}")
        if options.get("delayMs"):
            await wait(options["delayMs"])
        if thrown := options.get("throwString"):
            raise PlayedError(thrown)
        if options.get("throwUndefined"):
            raise PlayedError("undefined")
        if options.get("returnUndefined"):
            return None  # type: ignore[return-value]  # A tool may be wrong.
        text = await work(arguments, wait)
        if options.get("lateUpdate"):
            asyncio.get_running_loop().call_later(0.005, context.update, "late")
        return ToolResult(
            NoContent() if options.get("noContent") else text,
            bool(options.get("isError")),
            options.get("terminate"),
        )


def preparing(options: Options) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """Return the `prepare_arguments` that the options of a tool ask for."""

    def broken(arguments: dict[str, Any]) -> dict[str, Any]:
        raise PlayedError(options["prepareThrow"])

    def renamed(arguments: dict[str, Any]) -> dict[str, Any]:
        old, new = options["prepareRename"]
        rest = {name: value for name, value in arguments.items() if name != old}
        return rest | {new: arguments[old]} if old in arguments else arguments

    if options.get("prepareThrow"):
        return broken
    return renamed if options.get("prepareRename") else None
