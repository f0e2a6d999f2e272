"""Several calls in one answer: what the whole loop of a reader makes of them."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, Verdict, not_yet

SECONDS = 3  # Nothing here takes long, and what hangs is not waited for.
ORDERS = (("c", "a", "b"), ("b", "c", "a"), ("a", "c", "b"))
WANTED = "abc"
SCHEMA = {"type": "object", "properties": {}}


class Batch:
    """A run in which the model makes some calls at once, and then says something."""

    def __init__(self, package: str, cwd: Path | None = None) -> None:
        self._package = package
        self.types: Any = self._module("harness_types")
        self.tool_types: Any = self._module("tools.tool_types")
        self.registry: Any = self._module("tools.registry").ToolRegistry()
        self.context: Any = self.types.Context([])
        self.cwd = cwd or Path.cwd()
        self.asked: list[list[Any]] = []
        self.steps: list[str] = []

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self._package}.{name}")

    def tool(self, name: str, work: Callable[[], Awaitable[Any]], **options: Any) -> None:
        async def execute(arguments: Any, context: Any) -> Any:
            return await work() or self.tool_types.ToolResult(name)

        self.registry.register(self.tool_types.ToolDefinition(name, "", SCHEMA, execute, **options))

    def call(self, call_id: str, name: str, **arguments: object) -> Any:
        return self.types.ToolCallContent(call_id, name, arguments)

    def run(self, *calls: Any, prompts: Sequence[str] = ("go",), **config: Any) -> "Batch":
        try:
            asyncio.run(asyncio.wait_for(self._run(calls, prompts, config), SECONDS))
        except TimeoutError:
            raise FoundError(not_yet(say("a run with several tools does not end"))) from None
        return self

    async def _run(self, calls: Sequence[Any], prompts: Sequence[str], config: Any) -> None:
        for text in prompts:
            events = self._module("run_loop").run_loop(
                prompts=[self.types.user_text(text)],
                context=self.context,
                tools=self.registry,
                tool_context=self.tool_types.ToolContext(self.cwd),
                stream_fn=self._model(calls),
                config=self._module("loop_config").LoopConfig(**config),
            )
            async with aclosing(events):
                async for event in events:
                    self._note(event)

    def _model(self, calls: Sequence[Any]) -> Any:
        left = [self.types.AssistantMessage([*calls], "toolUse")] if calls else []

        async def model(context: Any, options: Any = None) -> AsyncGenerator[Any, None]:
            self.asked.append([*context.messages])
            said = self.types.AssistantMessage([self.types.TextContent("ok")], "stop")
            yield self.types.StreamStart()
            yield self.types.StreamDone(left.pop() if left else said)

        return model

    def _note(self, event: Any) -> None:
        if event.type in ("tool_execution_start", "tool_execution_end"):
            self.steps.append(f"{event.type.rpartition('_')[2]} {event.tool_call.id}")
        elif event.type == "tool_execution_update":
            self.steps.append(f"update {event.tool_call.id}")

    @property
    def results(self) -> list[str]:
        return [m.tool_call_id for m in self.context.messages if m.role == "toolResult"]

    def of(self, kind: str) -> list[str]:
        return [step.partition(" ")[2] for step in self.steps if step.startswith(f"{kind} ")]


def ending(package: str, order: Sequence[str]) -> Batch:
    """Call a, b and c at once, and let them end in `order`; no clock is asked."""
    batch = Batch(package)
    ended = {name: asyncio.Event() for name in WANTED}

    def work(name: str) -> Callable[[], Awaitable[None]]:
        before = order[: order.index(name)]

        async def wait() -> None:
            for other in before:
                await ended[other].wait()
            for _ in range(10 if before else 0):  # The end of the one before is told first.
                await asyncio.sleep(0)
            ended[name].set()

        return wait

    for name in WANTED:
        batch.tool(name, work(name))
    return batch.run(*(batch.call(name, name) for name in WANTED))


def as_they_end_verdict(package: str) -> Verdict | None:
    return first_other(package, as_called=False)


def in_order_verdict(package: str) -> Verdict | None:
    return first_other(package, as_called=True)


def first_other(package: str, *, as_called: bool) -> Verdict | None:
    """Return which results stand in another order than they should."""
    for order in ORDERS:
        seen = ending(package, order).results
        wanted = [*WANTED] if as_called else [*order]
        if seen == wanted:
            continue
        if as_called:
            found = say("results do not stand in the order of the calls")
            guess = say("that was the change of task 2; make reset STEP=09 restores the step")
        elif sorted(seen) != sorted(wanted):
            found, guess = say("a call has no result, or more than one"), ""
        elif seen == [*WANTED]:
            found = say("results still stand in the order of the calls")
            guess = say(
                "at the end of events in tool_batch.py, each group is told as it was called"
            )
        else:
            found, guess = say("results do not stand in the order in which the tools end"), ""
        where = say("a, b and c are called, and end in the order {order}", order=" ".join(order))
        return not_yet(
            found, where=where, expected=" ".join(wanted), seen=" ".join(seen), guess=guess
        )
    return None


def kept_verdict(package: str) -> Verdict | None:
    """Return what else of a batch is not as it was."""
    together = ending(package, ORDERS[0])
    if together.of("start") != [*WANTED] or together.of("end") != [*ORDERS[0]]:
        return other_steps([*map("start {}".format, WANTED), "end c", "end a", "end b"], together)

    async def nothing() -> None:
        await asyncio.sleep(0)

    in_line = Batch(package)
    in_line.tool("a", nothing)
    in_line.tool("b", nothing, execution_mode="sequential")
    in_line.run(in_line.call("1", "a"), in_line.call("2", "nobody"), in_line.call("3", "b"))
    wanted = [f"{kind} {place}" for place in (1, 2, 3) for kind in ("start", "end")]
    if in_line.steps != wanted or in_line.results != ["1", "2", "3"]:
        return other_steps(wanted, in_line)
    return None


def other_steps(wanted: list[str], batch: Batch) -> Verdict:
    return not_yet(
        say("something else of a batch is not as it was"),
        where=say("starts, ends and results"),
        expected=", ".join(wanted),
        seen=f"{', '.join(batch.steps)}; {' '.join(batch.results)}",
        guess=say("only the order of the results of one group is to change"),
    )
