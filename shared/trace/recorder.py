"""Recording a run: at each event, where the loop stands and what the model would see.

The step knows nothing of it. Its `main` is given a loop and a model that look over the shoulder of
the real ones, in a process of its own.
"""

import importlib
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..rules import matching, rule_name
from ..watching import step_folder, watch_chat, watch_demo
from .flow import way_out

LONGEST_DETAIL = 60  # characters


@dataclass(slots=True)
class Moment:
    """One event, and how things stand when people have seen it.

    `run` counts the user's sentences and `turn` the turns of a run. `line` is where the loop stands
    suspended, `history` says which of the recording's histories is the one of this moment, and
    `screen` counts the characters on the terminal. `match_key` and `rule` are those of this turn;
    `way_out` names how the run ended, at its last event.
    """

    run: int
    turn: int
    event: str
    detail: str
    call_id: str | None
    line: int
    history: int
    match_key: str
    rule: str
    screen: int = 0
    way_out: str = ""


@dataclass(slots=True)
class Recording:
    """A conversation: its moments, and what they count and point into.

    `messages` are all that there ever were; a history is a list of places in them.
    """

    step: str
    sentence: str
    source: str
    screen: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    histories: list[list[int]] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)

    def history_at(self, moment: Moment) -> list[dict[str, Any]]:
        """Return the messages that the model would see at a moment."""
        return [self.messages[place] for place in self.histories[moment.history]]


def recording_from(data: dict[str, Any]) -> Recording:
    """Return a recording that came as JSON."""
    return Recording(**{**data, "moments": [Moment(**moment) for moment in data["moments"]]})


def record(package: str, sentence: str, cwd: str) -> Recording:
    """Play the demo of a step, or say one sentence to it, and return what happened.

    `cwd` is the folder in which the tools work for a sentence.
    """
    main: Any = importlib.import_module(f"{package}.main")
    source = (step_folder(package) / "agent_loop.py").read_text("utf-8")
    recording = Recording(package, sentence, source)
    onlooker = Onlooker(recording, main)
    main.run_agent_loop, main.FakeModel = onlooker.run_agent_loop, onlooker.model
    try:
        run = watch_chat(package, [sentence], Path(cwd)) if sentence else watch_demo(package)
    finally:
        main.run_agent_loop, main.FakeModel = onlooker.loop, onlooker.model_class
    recording.screen = run.transcript
    if recording.moments:
        recording.moments[-1].screen = len(run.transcript)  # With the goodbye.
    return recording


class Onlooker:
    """Takes the places of a step's loop and model, and hands on all that they do."""

    def __init__(self, recording: Recording, main: Any) -> None:
        self.recording = recording
        self.loop, self.model_class = main.run_agent_loop, main.FakeModel
        self.match_key_of = sys.modules[self.model_class.__module__].match_key
        self.seen: list[Any] = []
        self.match_key = self.rule = ""
        self.run = 0

    async def run_agent_loop(self, **options: Any) -> AsyncGenerator[Any, None]:
        """Run the real loop, and note each of its events before and after people see it."""
        self.run += 1
        moment: Moment | None = None
        turn = 0
        async with aclosing(self.loop(**options)) as events:
            async for event in events:
                turn = getattr(event, "turn", turn)
                if event.type == "turn_start":
                    self.match_key = self.rule = ""
                moment = Moment(
                    run=self.run,
                    turn=turn,
                    event=event.type,
                    detail=detail_of(event),
                    call_id=call_id_of(event),
                    line=events.ag_frame.f_lineno,
                    history=self.history(options["context"].messages),
                    match_key=self.match_key,
                    rule=self.rule,
                )
                self.recording.moments.append(moment)
                yield event
                # The renderer has asked for more, so it has shown this one.
                moment.screen = sys.stdout.tell()
        if moment is not None:
            moment.way_out = way_out(self.recording.source, moment.line, moment.event)

    def history(self, messages: list[Any]) -> int:
        """Return the place of a history among those of the recording, new or not."""
        places = [self.place(message) for message in messages]
        histories = self.recording.histories
        if not histories or histories[-1] != places:
            histories.append(places)
        return len(histories) - 1

    def place(self, message: Any) -> int:
        """Return the place of a message; it is the same one only if it is the same object."""
        for place in range(len(self.seen) - 1, -1, -1):
            if self.seen[place] is message:
                return place
        self.seen.append(message)
        self.recording.messages.append(as_data(message))
        return len(self.seen) - 1

    def model(self, rules: Any) -> Any:
        """Make the real model, and note on which key it is asked and which rule answers."""
        model = self.model_class(rules)

        def ask(context: Any, options: Any = None) -> Any:
            self.match_key = self.match_key_of(context)
            places = matching(rules, self.match_key)
            self.rule = rule_name(rules, places[0]) if places else "no rule"
            return model(context, options)

        return ask


def call_id_of(event: Any) -> str | None:
    """Return the id of the call that an event is about, if it is about one."""
    call = getattr(event, "tool_call", None)
    return call.id if call is not None else getattr(event, "tool_call_id", None)


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
    """Return a message of any step as plain data; arguments as the text that people see of them."""
    return {
        "role": message.role,
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [
            {"id": block.id, "name": block.name, "arguments": compact_json(block.arguments)}
            for block in message.content
            if block.type == "toolCall"
        ],
        "answers": getattr(message, "tool_call_id", None),
        "tool": getattr(message, "tool_name", None),
        "is_error": getattr(message, "is_error", False),
    }


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=repr)
