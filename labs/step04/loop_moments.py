"""The loop of step04 with a model that follows a script, and both channels after every event.

A demo shows two texts of one tool. Here the model asks for several tools in one message, for one
that fails and one that nobody has registered, and for many turns; and after every event stands
what the model would see if it were asked just then.
"""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..language import say
from ..verdict import Verdict, not_yet

TOO_MANY = 400  # events; no scenario has as many
LONG = "很长的结果" * 500
# What a tool answers, and whether that is an error.
RESULTS = {
    "calc": ("十二", False),
    "clock": ("", False),
    "read": (LONG, False),
    "broken": ("工具执行失败：坏了", True),
    "nope": ("未注册的工具：nope", True),
}
NOTHING_MORE = "(the end)"
ERROR, LATE_ERROR, NO_END = "it fails", "it fails after its last event", "it just stops"
SHIPPED = frozenset({"assistant", "result"})


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the model does turn by turn: the tools it asks for, or how its stream ends."""

    name: str
    turns: list[list[str] | str]
    max_turns: int | None = None

    @property
    def limit(self) -> int:
        return 8 if self.max_turns is None else self.max_turns


SCENARIOS = [
    Scenario(say("no tool"), [[]]),
    Scenario(say("one tool"), [["calc"], []]),
    Scenario(say("another tool"), [["read"], ["clock"], []]),
    Scenario(say("five tools in one message"), [["calc", "broken", "clock", "nope", "read"], []]),
    Scenario(say("five turns"), [["calc"], ["nope"], ["calc", "calc"], ["broken"], []]),
    Scenario(say("a model that fails in turn 2"), [["calc"], ERROR]),
    Scenario(say("a model that fails after its last event"), [["calc"], LATE_ERROR]),
    Scenario(say("a stream without an end"), [["calc"], NO_END]),
    Scenario("max_turns=2", [["calc"]] * 3, max_turns=2),
    Scenario("max_turns=0", [["calc"]], max_turns=0),
    Scenario(say("no max_turns given"), [["clock"]] * 10),
]


def wanted_moments(scenario: Scenario, kept: Collection[str]) -> Iterator[str]:
    """Give an event a line, and behind it the history, of a loop that keeps only `kept`."""
    history = ["user"]

    def moment(event: str) -> str:
        return f"{event} | {', '.join(history)}"

    ids = 0
    for turn, answer in enumerate(scenario.turns[: scenario.limit], 1):
        yield moment(f"turn_start {turn}")
        yield moment("asked")
        yield moment("start")
        yield moment("text_delta")
        if answer == LATE_ERROR:
            yield moment("done")
        if answer in (ERROR, LATE_ERROR):
            yield moment("error 断了")
        if isinstance(answer, str):
            return
        calls = [(f"c{ids + place}", tool) for place, tool in enumerate(answer, 1)]
        ids += len(calls)
        for call, tool in calls:
            yield moment(f"toolcall {call} {tool}")
        yield moment("done")
        if "assistant" in kept:
            history.append(f"assistant {turn}")
        for call, tool in calls:
            yield moment(f"tool_call {call} {tool}")
            if "result" in kept:
                history.append(result_label(call, tool, *RESULTS[tool]))
            yield moment(f"tool_result {result_label(call, tool, *RESULTS[tool])}")
        yield moment(f"turn_end {turn}")
        if not calls:
            return
    yield moment(f"error Agent Loop 达到最大轮数 {scenario.limit}，已强制停止。")


def result_label(call: str, tool: str, text: str, is_error: bool) -> str:
    text = text if text != LONG else "(long)"
    return f"{call} {tool} → {text}{'（出错）' if is_error else ''}"


def seen_moments(package: str, scenario: Scenario) -> list[str]:
    """Run the loop of the step through a scenario, and return what `wanted_moments` gives."""
    types = importlib.import_module(f"{package}.harness_types")
    loop = importlib.import_module(f"{package}.agent_loop").run_agent_loop
    context = types.Context([types.user_text("开始")])
    options = types.StreamOptions()
    moments: list[str] = []
    said: list[Any] = []

    def note(event: str) -> None:
        moments.append(f"{event} | {', '.join(label(m, said) for m in context.messages)}")

    async def model(context: Any, given: Any) -> AsyncGenerator[Any, None]:
        note("asked" if given is options else "asked without its stream_options")
        answer = scenario.turns[len(said)] if len(said) < len(scenario.turns) else []
        calls = [
            types.ToolCallContent(f"c{place}", tool, {"turn": len(said)})
            for place, tool in enumerate(
                answer if isinstance(answer, list) else [], next_call(said)
            )
        ]
        text = types.TextContent(f"第 {len(said)} 次")
        said.append(types.AssistantMessage([text, *calls], "toolUse" if calls else "stop"))
        yield types.StreamStart()
        yield types.TextDelta(text.text)
        for call in calls:
            yield types.ToolCallAnnounced(call)
        if isinstance(answer, list) or answer == LATE_ERROR:
            yield types.StreamDone(said[-1])
        if answer in (ERROR, LATE_ERROR):
            yield types.StreamError("断了")

    async def run() -> None:
        limit = {} if scenario.max_turns is None else {"max_turns": scenario.max_turns}
        events = loop(
            stream_fn=model,
            context=context,
            tools={name: handler(name) for name in RESULTS if name != "nope"},
            stream_options=options,
            **limit,
        )
        async with aclosing(events):
            async for event in events:
                note(event_label(event))
                if len(moments) > TOO_MANY:
                    return

    asyncio.run(run())
    return moments


def next_call(said: list[Any]) -> int:
    """Return the number of the next call."""
    blocks = [block for message in said for block in message.content]
    return 1 + len([block for block in blocks if block.type == "toolCall"])


def handler(name: str) -> Callable[[dict[str, object]], Any]:
    async def answer(arguments: dict[str, object]) -> str:
        if name == "broken":
            raise ValueError("坏了")
        return RESULTS[name][0]

    return answer


def event_label(event: Any) -> str:
    match event.type:
        case "turn_start" | "turn_end":
            return f"{event.type} {event.turn}"
        case "error":
            return f"error {event.error}"
        case "toolcall" | "tool_call":
            return f"{event.type} {event.tool_call.id} {event.tool_call.name}"
        case "tool_result":
            result = (event.tool_call_id, event.tool_name, event.content, event.is_error)
            return f"tool_result {result_label(*result)}"
    return str(event.type)


def label(message: Any, said: list[Any]) -> str:
    if message.role == "assistant":
        places = [place for place, own in enumerate(said, 1) if own == message]
        return f"assistant {places[0] if places else '?'}"
    if message.role == "toolResult":
        text = "".join(block.text for block in message.content)
        return result_label(message.tool_call_id, message.tool_name, text, message.is_error)
    return str(message.role)


def keeps(package: str, kept: Collection[str]) -> bool:
    """Return whether the loop keeps `kept` in its history and does all else as shipped."""
    return all(
        seen_moments(package, scenario) == list(wanted_moments(scenario, kept))
        for scenario in SCENARIOS
    )


def loop_verdict(package: str, kept: Collection[str]) -> Verdict | None:
    """Return what is wrong with a loop that should keep `kept`, and else be as it was shipped."""
    for scenario in SCENARIOS:
        wanted = list(wanted_moments(scenario, kept))
        seen = seen_moments(package, scenario)
        for line, other in zip_longest(wanted, seen, fillvalue=NOTHING_MORE):
            if line != other:
                return usual_mistake(package, kept) or told(scenario, line, other, kept)
    return None


def usual_mistake(package: str, kept: Collection[str]) -> Verdict | None:
    """Return a verdict that names the append that is missing, or the one that is still there."""
    if kept == SHIPPED and keeps(package, {"assistant"}):
        return not_yet(
            say("the results of tools do not reach context.messages"),
            guess=say("task 2 took context.messages.append(result) out; put that line back"),
        )
    if keeps(package, {"result"}):
        return not_yet(
            say("what the model said itself does not reach context.messages"),
            guess=say("that is the other append: context.messages.append(assistant) has to stay"),
        )
    if keeps(package, ()):
        return not_yet(
            say("nothing reaches context.messages any more"),
            guess=say("context.messages.append(assistant) has to stay"),
        )
    return None


def told(scenario: Scenario, wanted: str, seen: str, kept: Collection[str]) -> Verdict:
    """Return a verdict on the first moment that is not as it should be."""
    guess = say("this task does not touch run_agent_loop; put it back as it was shipped")
    if kept != SHIPPED:
        guess = say("only context.messages.append(result) is to go, and that for every result")
    event, _, history = wanted.partition(" | ")
    seen_event, _, seen_history = seen.partition(" | ")
    if event != seen_event:
        return not_yet(
            say("run_agent_loop does something else than it should"),
            where=say("the events of a run with {scenario}", scenario=scenario.name),
            expected=event,
            seen=seen_event,
            guess=guess,
        )
    found = say("context.messages is not what it should be at the event {event}", event=event)
    if kept != SHIPPED and "→" in seen_history:
        found = say("a result still gets into context.messages, at the event {event}", event=event)
    return not_yet(
        found,
        where=say("the messages then, in a run with {scenario}", scenario=scenario.name),
        expected=history,
        seen=seen_history,
        guess=guess,
    )
