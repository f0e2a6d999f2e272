"""A recording as OpenTelemetry spans: OTLP/JSON, for Jaeger, Langfuse and their like.

The names are those of OpenTelemetry's semantic conventions for generative AI, release 0.1.0. Each
sentence of the user is a trace: `invoke_agent`, in it a `chat` for each turn and an `execute_tool`
for each tool call, with the times at which their events really came. What the model saw and said is
in them, since that is what a reader of these traces wants to see.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import Any

from .flow import FAILED, NO_LAST_EVENT, NO_TOOL
from .recording import Call, Message, Moment, Recording, Tool
from .recording_file import lines_of

PROVIDER = "scripted"
INTERNAL = 1  # The kind of all our spans: the model runs in the same process.
ERROR = 2  # The status of a span that failed.
STREAM = ("start", "text_delta", "toolcall", "done", "error")


@dataclass(slots=True)
class Span:
    """One operation. `start` and `end` are microseconds; `error` is why it failed, if it did."""

    name: str
    start: int
    end: int
    attributes: dict[str, Any] = field(default_factory=dict)
    error: str = ""


def otlp(recordings: Sequence[Recording]) -> str:
    """Return the body of a request to /v1/traces."""
    data = {"resourceSpans": [resource_spans(recording) for recording in recordings]}
    return json.dumps(data, ensure_ascii=False)


def resource_spans(recording: Recording) -> dict[str, Any]:
    name = " ".join(filter(None, [recording.step, recording.title]))
    identity = digest("\n".join(lines_of(recording)))
    spans = []
    for run, moments in groupby(recording.moments, key=lambda moment: moment.run):
        trace, first = digest(identity, run)[:32], ""
        for number, span in enumerate(spans_of(recording, list(moments))):
            span.attributes["gen_ai.conversation.id"] = identity[:32]
            own = digest(trace, number)[:16]
            spans.append(as_data(recording, span, trace, own, first))
            first = first or own
    return {
        "resource": {"attributes": as_attributes({"service.name": name})},
        "scopeSpans": [{"scope": {"name": "mini-agent-harness"}, "spans": spans}],
    }


def digest(*values: object) -> str:
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()


def spans_of(recording: Recording, moments: list[Moment]) -> Iterator[Span]:
    """Give the spans of one run, first the one that all others are in."""
    events = [moment for moment in moments if moment.event]
    if not events:
        return
    asked = recording.history_at(moments[0])[-1:]
    said = new_messages(recording, moments[0], moments[-1])[-1:]
    ending = moments[-1].ending
    yield Span(
        f"invoke_agent {recording.step}",
        events[0].at,
        events[-1].at,
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.agent.name": recording.step,
            "gen_ai.input.messages": input_messages(asked),
            "gen_ai.output.messages": output_messages([m for m in said if m.role == "assistant"]),
        },
        "" if ending == NO_TOOL else ending,
    )
    for _, turn in groupby(events, key=lambda moment: moment.turn):
        yield from spans_of_turn(recording, list(turn))


def spans_of_turn(recording: Recording, events: list[Moment]) -> Iterator[Span]:
    if events[0].event == "turn_start":
        yield chat(recording, events)
    for number, event in enumerate(events):
        if event.event == "tool_call":
            yield execute_tool(recording, event, events[number + 1 :])


def chat(recording: Recording, events: list[Moment]) -> Span:
    """Return the span of the question to the model with which a turn begins."""
    stream = list(takewhile(lambda moment: moment.event in STREAM, events[1:]))
    last = stream[-1] if stream else events[0]
    said = [m for m in new_messages(recording, events[0], events[-1]) if m.role == "assistant"]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.request.stream": True,
        "gen_ai.response.finish_reasons": [reason(message) for message in said],
        "gen_ai.input.messages": input_messages(recording.history_at(events[0])),
        "gen_ai.output.messages": output_messages(said),
        "gen_ai.tool.definitions": definitions(recording.tools),
    }
    error = {"done": "", "error": FAILED}.get(last.event, NO_LAST_EVENT)
    return Span("chat", events[0].at, last.at, attributes, error)


def execute_tool(recording: Recording, started: Moment, later: list[Moment]) -> Span:
    """Return the span of a tool call; `later` are the events that follow in its turn."""
    call_id, name = started.call_id or "", started.detail.partition(" ")[2]
    finished = next(
        (m for m in later if m.event == "tool_result" and m.call_id == call_id),
        later[-1] if later else started,
    )
    history = recording.history_at(finished)[::-1]
    calls = [call for message in history for call in message.calls if call.id == call_id]
    results = [message for message in history if message.answers == call_id]
    tools = [tool.description for tool in recording.tools if tool.name == name]
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.description": "".join(tools[:1]),
        "gen_ai.tool.call.arguments": "".join(call.arguments for call in calls[:1]),
        "gen_ai.tool.call.result": "".join(message.text for message in results[:1]),
    }
    failed = "tool error" if results and results[0].is_error else ""
    return Span(f"execute_tool {name}", started.at, finished.at, attributes, failed)


def new_messages(recording: Recording, one: Moment, other: Moment) -> list[Message]:
    """Return the messages that are in the history of `other` and not yet in that of `one`."""
    before = recording.histories[one.history]
    return [
        recording.messages[place]
        for place in recording.histories[other.history]
        if place not in before
    ]


def input_messages(messages: Sequence[Message]) -> str:
    return as_json([as_message(message) for message in messages])


def output_messages(messages: Sequence[Message]) -> str:
    """Return what the model said; each message says why it ends there."""
    return as_json([{**as_message(m), "finish_reason": reason(m)} for m in messages])


def reason(message: Message) -> str:
    return "tool_call" if message.calls else "stop"


def as_message(message: Message) -> dict[str, Any]:
    if message.answers is not None:
        result = {"type": "tool_call_response", "id": message.answers, "response": message.text}
        return {"role": "tool", "parts": [result]}
    text = [{"type": "text", "content": message.text}] if message.text else []
    return {"role": message.role, "parts": [*text, *map(as_request, message.calls)]}


def as_request(call: Call) -> dict[str, Any]:
    return {
        "type": "tool_call",
        "id": call.id,
        "name": call.name,
        "arguments": data_of(call.arguments),
    }


def definitions(tools: Sequence[Tool]) -> str:
    return as_json(
        [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": data_of(tool.parameters),
            }
            for tool in tools
        ]
    )


def data_of(text: str) -> Any:
    """Return JSON as what it stands for; what is no JSON stays the text that it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_json(values: list[dict[str, Any]]) -> str:
    """Return a list as JSON: a span has no lists of objects. An empty one is left out."""
    return json.dumps(values, ensure_ascii=False) if values else ""


def as_data(recording: Recording, span: Span, trace: str, own: str, parent: str) -> dict[str, Any]:
    """Return a span as OTLP has it in JSON: numbers of 64 bits are texts."""
    started = recording.started * 1_000_000
    data: dict[str, Any] = {
        "traceId": trace,
        "spanId": own,
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": str((started + span.start) * 1000),
        "endTimeUnixNano": str((started + max(span.start, span.end)) * 1000),
        "attributes": as_attributes(span.attributes),
    }
    if parent:
        data["parentSpanId"] = parent
    if span.error:
        data["attributes"] += as_attributes({"error.type": span.error.replace(" ", "_")})
        data["status"] = {"code": ERROR, "message": span.error}
    return data


def as_attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": as_value(value)} for key, value in values.items() if value]


def as_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case list():
            return {"arrayValue": {"values": [as_value(item) for item in value]}}
    return {"stringValue": value}
