"""A run for other programs: as an asciicast, and as OpenTelemetry spans."""

import base64
import dataclasses
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

from labs.breaks import copy_broken, find_break
from shared.steps import ROOT, find_step
from shared.trace import command
from shared.trace.asciicast import asciicast
from shared.trace.command import record_all
from shared.trace.recorder import record
from shared.trace.recording import Recording
from shared.trace.spans import otlp


@pytest.fixture(scope="module")
def demo() -> Recording:
    return record(find_step("05").name, "", "")


def said(sentence: str) -> Recording:
    return record(find_step("05").name, sentence, str(ROOT))


def test_an_asciicast_shows_the_screen_in_the_order_of_time(demo: Recording) -> None:
    head, *events = map(json.loads, asciicast(demo))
    assert (head["version"], head["width"], head["height"]) == (2, 80, 24)
    assert head["timestamp"] == demo.started
    times = [time for time, _, _ in events]
    assert times == sorted(times)
    shown = "".join(text for _, kind, text in events if kind == "o")
    assert shown.replace("\r\n", "\n") == demo.screen
    assert "\n" not in shown.replace("\r\n", "")


def test_an_asciicast_has_a_marker_at_each_turn(demo: Recording) -> None:
    events = [json.loads(line) for line in asciicast(demo)][1:]
    turns = [f"{m.run}.{m.turn}" for m in demo.moments if m.event == "turn_start"]
    assert [text for _, kind, text in events if kind == "m"] == turns
    for (_, kind, _), (_, _, text) in pairwise(events):
        assert kind != "m" or text.startswith("[第 ")


def test_the_same_run_gives_the_same_film() -> None:
    films = [list(asciicast(said("你好")))[1:] for _ in range(2)]
    assert films[0] == films[1]


def test_nothing_in_a_film_acts_on_the_terminal() -> None:
    recording = said("你好")
    recording.screen = recording.screen.replace("你好", "\x1b[2J")
    events = [json.loads(line) for line in asciicast(recording)][1:]
    assert "\\x1b[2J" in "".join(text for _, _, text in events)
    assert "\x1b" not in "".join(text for _, _, text in events)


def test_two_films_are_numbered_whatever_their_recordings_are_called(
    demo: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "TRACES", tmp_path)
    both = [demo, dataclasses.replace(demo, title="x/../../y")]
    files = command.write_casts(both, "films")
    assert files == [tmp_path / "films-1.cast", tmp_path / "films-2.cast"]
    assert all(file.read_text("utf-8").startswith('{"version": 2') for file in files)


def spans_of(recording: Recording) -> list[Any]:
    """Return the spans as OpenTelemetry's own model reads them."""
    data = json.loads(otlp([recording]))
    # OTLP has its ids in hexadecimal digits. Other bytes are base64 in the JSON of protobuf.
    for span in data["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name, length in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
            if name in span:
                number = bytes.fromhex(span[name])
                assert len(number) == length
                span[name] = base64.b64encode(number).decode()
    (resource,) = json_format.ParseDict(data, TracesData()).resource_spans
    assert values(resource.resource.attributes) == {"service.name": recording.step}
    (scope,) = resource.scope_spans
    return list(scope.spans)


def values(attributes: Any) -> dict[str, Any]:
    found = {}
    for attribute in attributes:
        kind = attribute.value.WhichOneof("value")
        value = getattr(attribute.value, kind)
        if kind == "array_value":
            value = [item.string_value for item in value.values]
        found[attribute.key] = value
    return found


def test_a_run_is_a_trace_of_one_agent_with_its_chats_and_tools(demo: Recording) -> None:
    spans = spans_of(demo)
    traces: dict[bytes, list[Any]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    assert [[span.name for span in trace] for trace in traces.values()] == [
        ["invoke_agent step05_tools", "chat", "execute_tool read_file", "chat"],
        [
            "invoke_agent step05_tools",
            *["chat", "execute_tool calc"] * 2,
            "chat",
        ],
        ["invoke_agent step05_tools", "chat", "execute_tool read_file", "chat"],
        ["invoke_agent step05_tools", "chat", "execute_tool calc", "chat"],
    ]
    assert len({span.span_id for span in spans}) == len(spans)
    conversations = {values(span.attributes)["gen_ai.conversation.id"] for span in spans}
    assert len(conversations) == 1
    for agent, *others in traces.values():
        assert agent.parent_span_id == b""
        for span in others:
            assert span.kind == Span.SPAN_KIND_INTERNAL
            assert span.parent_span_id == agent.span_id
            assert agent.start_time_unix_nano <= span.start_time_unix_nano
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            assert span.end_time_unix_nano <= agent.end_time_unix_nano
        assert agent.start_time_unix_nano // 10**9 - demo.started in range(10)


def test_the_attributes_are_those_of_the_conventions() -> None:
    agent, chat, tool, last = (values(span.attributes) for span in spans_of(said("帮我算 12*8")))
    assert agent["gen_ai.operation.name"] == "invoke_agent"
    assert agent["gen_ai.agent.name"] == "step05_tools"
    question = {"role": "user", "parts": [{"type": "text", "content": "帮我算 12*8"}]}
    assert json.loads(agent["gen_ai.input.messages"]) == [question]
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.provider.name"] == "scripted"
    assert chat["gen_ai.request.stream"] is True
    assert chat["gen_ai.response.finish_reasons"] == ["tool_call"]
    assert [t["name"] for t in json.loads(chat["gen_ai.tool.definitions"])] == ["calc", "read_file"]
    (said_first,) = json.loads(chat["gen_ai.output.messages"])
    call = {
        "type": "tool_call",
        "id": "call_1",
        "name": "calc",
        "arguments": {"expression": "12*8"},
    }
    text = {"type": "text", "content": "这个我算一下。"}
    assert said_first == {
        "role": "assistant",
        "parts": [text, call],
        "finish_reason": "tool_call",
    }
    assert tool["gen_ai.operation.name"] == "execute_tool"
    assert tool["gen_ai.tool.name"] == "calc"
    assert tool["gen_ai.tool.type"] == "function"
    assert tool["gen_ai.tool.call.id"] == "call_1"
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"expression": "12*8"}
    assert tool["gen_ai.tool.call.result"] == "96"
    answer = {"type": "tool_call_response", "id": "call_1", "response": "96"}
    assert json.loads(last["gen_ai.input.messages"]) == [
        question,
        {"role": "assistant", "parts": [text, call]},
        {"role": "tool", "parts": [answer]},
    ]
    assert last["gen_ai.response.finish_reasons"] == ["stop"]


@pytest.mark.parametrize(
    ("sentence", "name", "error"),
    [
        ("断线", "chat", "the_model_failed"),
        ("断线", "invoke_agent step05_tools", "the_model_failed"),
        ("读一下 ../../../etc/hosts", "execute_tool read_file", "tool_error"),
    ],
)
def test_what_failed_is_an_error_and_nothing_else_is(sentence: str, name: str, error: str) -> None:
    failed = {
        span.name: values(span.attributes)["error.type"]
        for span in spans_of(said(sentence))
        if span.status.code == Status.STATUS_CODE_ERROR
    }
    assert failed[name] == error
    assert all("error.type" not in values(s.attributes) for s in spans_of(said("你好")))


def test_a_call_whose_result_was_forgotten_has_a_span_without_one(tmp_path: Path) -> None:
    step = find_step("04")
    copy_broken(find_break(step, "no-append"), tmp_path)
    (run,) = record_all(step, {"": tmp_path}, "帮我算 12*8")
    (tool,) = [span for span in spans_of(run) if span.name == "execute_tool calc"]
    assert "gen_ai.tool.call.result" not in values(tool.attributes)


def test_the_files_are_named_when_they_are_written() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labs", "trace", "04", "--input=你好", "--json", "--cast", "--otlp"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    written = [Path(line) for line in done.stdout.splitlines()]
    assert [path.suffix for path in written] == [".jsonl", ".cast", ".json"]
    assert all(path.parent == ROOT / "traces" for path in written)
    for path in written:
        assert path.read_text("utf-8")
        path.unlink()
