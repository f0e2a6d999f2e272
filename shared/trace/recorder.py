"""Recording a run: at each event, where the loop stands and what the model would see.

The step knows nothing of it. Its `main` is given a loop and a model that look over the shoulder of
the real ones, in a process of its own.
"""

import importlib
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..watching import step_folder, watch_chat, watch_demo
from .flow import way_out

LONGEST_DETAIL = 60  # characters


@dataclass(slots=True)
class Moment:
    """One event, and how things stand when people have seen it.

    `run` counts the user's sentences and `turn` the turns of a run. `line` is where the loop stands
    suspended; `messages` counts the history and `screen` the characters on the terminal. `way_out`
    names how the run ended, at its last event.
    """

    run: int
    turn: int
    event: str
    detail: str
    line: int
    messages: int
    match_key: str
    rule: str
    screen: int = 0
    way_out: str = ""


@dataclass(slots=True)
class Recording:
    """A conversation: its moments, and the text and the messages that they count."""

    step: str
    source: str
    screen: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)


def record(package: str, sentence: str = "") -> Recording:
    """Play the demo of a step, or say one sentence to it, and return what happened."""
    main: Any = importlib.import_module(f"{package}.main")
    source = (step_folder(package) / "agent_loop.py").read_text("utf-8")
    onlooker = Onlooker(Recording(package, source), main)
    main.run_agent_loop, main.FakeModel = onlooker.run_agent_loop, onlooker.model
    run = watch_chat(package, [sentence], Path.cwd()) if sentence else watch_demo(package)
    onlooker.recording.screen = run.transcript
    onlooker.recording.messages = [as_data(message) for message in onlooker.history]
    return onlooker.recording


class Onlooker:
    """Takes the places of a step's loop and model, and hands on all that they do."""

    def __init__(self, recording: Recording, main: Any) -> None:
        self.recording = recording
        self.loop, self.model_class = main.run_agent_loop, main.FakeModel
        self.match_key_of = sys.modules[self.model_class.__module__].match_key
        self.history: list[Any] = []
        self.match_key = self.rule = ""
        self.run = 0

    async def run_agent_loop(self, **options: Any) -> AsyncGenerator[Any, None]:
        """Run the real loop, and note each of its events before and after people see it."""
        self.run += 1
        self.history = options["context"].messages
        moment: Moment | None = None
        turn = 0
        async with aclosing(self.loop(**options)) as events:
            async for event in events:
                turn = getattr(event, "turn", turn)
                line = events.ag_frame.f_lineno
                moment = Moment(
                    self.run,
                    turn,
                    event.type,
                    detail_of(event),
                    line,
                    len(self.history),
                    self.match_key,
                    self.rule,
                )
                self.recording.moments.append(moment)
                yield event
                # The renderer has asked for more, so it has shown this one.
                moment.screen = sys.stdout.tell()
        if moment is not None:
            moment.way_out = way_out(self.recording.source, moment.line, moment.event)

    def model(self, rules: Any) -> Any:
        """Make the real model, and note on which key it is asked and which rule answers."""
        model = self.model_class(rules)

        def ask(context: Any, options: Any = None) -> Any:
            self.match_key = self.match_key_of(context)
            place = next(
                (n for n, r in enumerate(rules, 1) if r.match is None or r.match in self.match_key),
                None,
            )
            self.rule = "no rule" if place is None else rule_name(place, rules[place - 1].match)
            return model(context, options)

        return ask


def rule_name(place: int, match: str | None) -> str:
    return f"{place} (the fallback)" if match is None else f"{place} (match={match!r})"


def detail_of(event: Any) -> str:
    """Return what is worth reading of an event, in a few words."""
    match event.type:
        case "text_delta":
            text = event.delta
        case "toolcall" | "tool_call":
            text = f"{event.tool_call.id} {event.tool_call.name}"
        case "tool_result":
            text = f"{event.tool_call_id} {event.tool_name} → {event.content}"
        case "error":
            text = event.error
        case "turn_start" | "turn_end":
            text = str(event.turn)
        case _:
            text = ""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]}…"


def as_data(message: Any) -> dict[str, Any]:
    """Return a message of any step as plain data."""
    return {
        "role": message.role,
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [
            {"id": block.id, "name": block.name, "arguments": block.arguments}
            for block in message.content
            if block.type == "toolCall"
        ],
        "answers": getattr(message, "tool_call_id", None),
        "tool": getattr(message, "tool_name", None),
        "is_error": getattr(message, "is_error", False),
    }


def recording_from(data: dict[str, Any]) -> Recording:
    """Return a recording that came as JSON."""
    return Recording(**{**data, "moments": [Moment(**moment) for moment in data["moments"]]})


def parting(recordings: list[Recording]) -> int | None:
    """Return the first moment, counted from 1, at which two recordings are not the same."""
    if len(recordings) < 2:
        return None
    states = [
        [state(recording, n) for n in range(len(recording.moments))] for recording in recordings
    ]
    for number, (one, other) in enumerate(zip(*states, strict=False), 1):
        if one != other:
            return number
    lengths = {len(each) for each in states}
    return min(lengths) + 1 if len(lengths) > 1 else None


def state(recording: Recording, number: int) -> tuple[object, ...]:
    moment = recording.moments[number]
    return (
        moment.event,
        moment.detail,
        recording.screen[: moment.screen],
        recording.messages[: moment.messages],
    )
