"""Real SDKs over real HTTP: what becomes of an answer, and of everything that can go wrong."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from ..agent_loop import run_tool
from ..cancel import CancelToken
from ..demo import run_demo
from ..fake_model import Rule
from ..harness_types import (
    AssistantMessage,
    Context,
    Message,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    TextContent,
    TextDelta,
    ToolCallContent,
    ToolResultMessage,
    Usage,
    message_text,
    tool_calls_of,
    user_text,
)
from ..loopback import Loopback, Reply, played_by
from ..loopback.chat_wire import chat_chunk
from ..loopback.chat_wire import data as chat_data
from ..loopback.messages_wire import block_start
from ..tools import create_builtin_tools
from ..tools.tool_types import ToolContext
from ..whole_stream import whole_stream
from .service import (
    KEY,
    WIRES,
    Chat,
    Messages,
    Wire,
    answer_to,
    ask,
    bytes_of,
    model_of,
    refusing,
    replying,
)

RULES_FOR_ALL = [Rule(reply="ok")]
RECORDED = Path(__file__).parent / "recorded"
each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def done(events: list[StreamEvent]) -> StreamDone:
    last = events[-1]
    assert isinstance(last, StreamDone), last
    return last


def failed(events: list[StreamEvent]) -> str:
    """Return the one error that a stream ends with."""
    last = events[-1]
    assert isinstance(last, StreamError), last
    assert [event.type for event in events].count("error") == 1
    assert "done" not in [event.type for event in events]
    return last.error


def shown(events: list[StreamEvent]) -> str:
    return "".join(event.delta for event in events if event.type == "text_delta")


@each_wire
def test_the_demo_over_the_wire_prints_what_the_script_prints(
    wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    run_demo(wire.name)
    expected = Path(__file__).parents[1] / "expected_output.txt"
    assert capsys.readouterr().out == expected.read_text("utf-8")


# What a real model has sent.


INTRODUCTION = "我是阿里云开发的人工智能助手，旨在帮助用户解决问题和提供信息。"
OUTCOMES = {
    "plain_zh": (
        "我是阿里云开发的人工智能助手，旨在帮助用户解决问题和提供信息。",
        "stop",
        Usage(34, 18),
    ),
    "plain_no_usage": ("Hello! How can I assist you today?", "stop", None),
    "plain_truncated_length": ("1, 2, 3, 4, ", "length", None),
    "tool_call": ({"expression": "12345*6789"}, "toolUse", Usage(202, 25)),
    "two_tool_calls": ({"expression": "12*13"}, "toolUse", None),  # It was to make two.
    "tool_call_truncated_length": ({"raw": '{"expression": "123'}, "length", Usage(202, 16)),
    "tool_call_fenced_then_error": None,
    "tool_call_invented_name_error": None,
}


async def outcome(*parts: bytes) -> tuple[object, str, Usage | None] | None:
    events = await answer_to("openai", bytes_of(*parts))
    if events[-1].type == "error":
        assert "does not match the expected peg-native format" in failed(events)
        return None
    end = done(events)
    assert shown(events) == message_text(end.message)
    calls = tool_calls_of(end.message)
    assert [call.name for call in calls] in ([], ["calc"])
    said = dict(calls[0].arguments) if calls else message_text(end.message)
    return said, end.message.stop_reason, end.usage


@pytest.mark.parametrize(("name", "expected"), OUTCOMES.items(), ids=list(OUTCOMES))
async def test_what_a_real_model_has_sent_is_read_wherever_its_bytes_are_split(
    name: str, expected: object
) -> None:
    sent = (RECORDED / f"{name}.txt").read_bytes()
    chance = random.Random(8)  # noqa: S311
    cuts = sorted(chance.sample(range(1, len(sent)), 40))
    assert await outcome(sent) == expected
    assert (
        await outcome(*(sent[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)))
        == expected
    )


async def test_every_byte_may_come_alone() -> None:
    text = "你\u2028好"
    for wire in WIRES:
        sent = wire.start + wire.text(text) + wire.end(wire.reasons[0])
        events = await answer_to(wire.name, bytes_of(*(sent[n : n + 1] for n in range(len(sent)))))
        assert message_text(done(events).message) == shown(events) == text


# Calls.


@each_wire
async def test_pieces_of_two_calls_find_their_call(wire: Wire) -> None:
    first = wire.call("calc", ['{"expres', 'sion": "1+1"}'], 0)
    second = wire.call("calc", ['{"expression"', ': "2+2"}'], 1)
    events = await answer_to(
        wire.name, bytes_of(wire.start, wire.text("ok"), first, second, wire.end(wire.reasons[1]))
    )
    message = done(events).message
    assert message.stop_reason == "toolUse"
    assert [call.arguments for call in tool_calls_of(message)] == [
        {"expression": "1+1"},
        {"expression": "2+2"},
    ]
    kinds = [event.type for event in events]
    assert kinds == ["start", "text_delta", "toolcall", "toolcall", "done"]


def piece(**fields: object) -> bytes:
    return chat_chunk({"tool_calls": [fields]})


async def test_a_piece_without_an_index_is_one_of_the_only_call() -> None:
    first = piece(id="c1", function={"name": "calc", "arguments": '{"expres'})
    second = piece(function={"arguments": 'sion": "1+1"}'})
    events = await answer_to("openai", bytes_of(first, second, Chat.end("tool_calls")))
    assert tool_calls_of(done(events).message) == [
        ToolCallContent("c1", "calc", {"expression": "1+1"})
    ]


async def test_a_service_that_says_stop_although_it_calls_has_called() -> None:
    call = piece(index=1, id="c1", function={"name": "calc", "arguments": "{}"})
    message = done(await answer_to("openai", bytes_of(call, Chat.end("stop")))).message
    assert (message.stop_reason, len(message.content)) == ("toolUse", 1)


SLOPPY = {
    "no choices": chat_data({"choices": None}),
    "no delta": chat_data({"choices": [{"index": 0, "finish_reason": None}]}),
    "a list of contents": chat_chunk({"content": [{"type": "text", "text": "no"}]}),
    "half a usage": chat_data({"choices": [], "usage": {"prompt_tokens": 5}}),
    "a comment": b": keep alive\r\n\r\n",
}


@pytest.mark.parametrize("extra", SLOPPY.values(), ids=list(SLOPPY))
async def test_what_a_sloppy_server_sends_besides_does_no_harm(extra: bytes) -> None:
    events = await answer_to("openai", bytes_of(extra, Chat.text("hi"), extra, Chat.end("stop")))
    assert shown(events) == message_text(done(events).message) == "hi"
    assert done(events).usage in (None, Usage(5, 0))


REFUSALS = {
    "broken": ('{"path": "a.t', "参数不是合法的 JSON"),
    "in quotes": ('"{\\"expression\\":\\"1+1\\"}"', "参数应为一个 JSON 对象，实际是 string"),
    "a list": ("[1]", "参数应为一个 JSON 对象，实际是 array"),
    "NaN": ('{"expression": NaN}', "参数不是合法的 JSON"),
    "infinite": ('{"expression": 1e999}', "参数不是合法的 JSON"),
    "deep": ('{"x":' + "[" * 100_000, "参数不是合法的 JSON"),
    "nothing": ("", "缺少必填参数 expression"),
    "blanks": ("  ", "缺少必填参数 expression"),
}


@each_wire
@pytest.mark.parametrize(("arguments", "words"), REFUSALS.values(), ids=list(REFUSALS))
async def test_arguments_that_are_no_object_do_not_run_and_the_model_is_told_why(
    wire: Wire, arguments: str, words: str, tmp_path: Path
) -> None:
    sent = bytes_of(wire.start, wire.call("calc", [arguments]), wire.end(wire.reasons[1]))
    message = done(await answer_to(wire.name, sent)).message
    (call,) = tool_calls_of(message)
    result = await run_tool(call, create_builtin_tools(), ToolContext(tmp_path))
    assert result.is_error
    assert result.content.startswith(f"参数校验失败：{words}")
    # And it can be sent back.
    with replying(bytes_of(wire.start, wire.text("ok"), wire.end(wire.reasons[0]))) as server:
        result_message = ToolResultMessage(call.id, "calc", [TextContent(result.content)], True)
        await ask(model_of(wire.name, server.url), user_text("hi"), message, result_message)
        assert len(server.requests) == 1


@each_wire
async def test_no_call_of_an_answer_that_was_cut_runs(wire: Wire, tmp_path: Path) -> None:
    whole, cut = wire.call("calc", ['{"expression": "1+1"}'], 0), wire.call("calc", ['{"ex'], 1)
    sent = bytes_of(wire.start, whole, cut, wire.end(wire.reasons[2]))
    message = done(await answer_to(wire.name, sent)).message
    assert message.stop_reason == "length"
    for call in tool_calls_of(message):
        result = await run_tool(call, create_builtin_tools(), ToolContext(tmp_path))
        assert result.content.startswith("参数校验失败：输出到了长度上限，这次调用被截断，没有执行")


# What goes wrong.


@each_wire
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "模型服务拒绝了这个请求（400）"),
        (401, "模型服务不接受这个密钥（401），请检查环境变量 "),
        (403, "这个密钥没有权限（403）"),
        (404, "模型服务没有这个地址或这个模型（404），请检查 --base-url 和 --model"),
        (429, "请求太多，或者额度用完了（429），请过一会儿再试"),
        (500, "模型服务出错了（500），请过一会儿再试"),
        (529, "模型服务出错了（529），请过一会儿再试"),
    ],
)
async def test_a_refusal_is_one_error_that_says_what_to_do(
    wire: Wire, status: int, words: str
) -> None:
    error = failed(await answer_to(wire.name, refusing(status, f"bad key {KEY}")))
    assert error.startswith(words)
    assert KEY not in error


@each_wire
async def test_the_sdk_tries_again_and_only_before_the_answer_has_begun(wire: Wire) -> None:
    good = bytes_of(wire.start, wire.text("ok"), wire.end(wire.reasons[0]))
    with replying(refusing(500), refusing(429), good) as server:
        events = await ask(model_of(wire.name, server.url, retries=2))
        assert (shown(events), len(server.requests)) == ("ok", 3)
    with replying(bytes_of(wire.start, wire.text("ok"), dropped=True), good) as server:
        failed(await ask(model_of(wire.name, server.url, retries=2)))
        assert len(server.requests) == 1


async def test_where_nobody_listens_it_says_so() -> None:
    with Loopback(played_by([])) as server:
        url = server.url
    for wire in WIRES:
        assert failed(await ask(model_of(wire.name, url))).startswith("连不上模型服务")


BROKEN = {
    "dropped": (True, "连接在回答的中途断了，请再试一次"),
    "ended": (False, "回答没有结束就断了，请再试一次"),
}


@each_wire
@pytest.mark.parametrize(("dropped", "words"), BROKEN.values(), ids=list(BROKEN))
@pytest.mark.parametrize("call", [False, True], ids=["in a text", "in a call"])
async def test_an_answer_that_breaks_off_is_one_error_and_nothing_of_it_counts(
    wire: Wire, dropped: bool, words: str, call: bool
) -> None:
    half = wire.call("calc", ['{"expres']) if call else wire.text("Hel")
    events = await answer_to(wire.name, bytes_of(wire.start, half, dropped=dropped))
    assert failed(events) == words
    assert "toolcall" not in [event.type for event in events]


@each_wire
async def test_an_error_inside_the_stream_is_told_with_its_words(wire: Wire) -> None:
    events = await answer_to(wire.name, bytes_of(wire.start, wire.text("Hel"), wire.error))
    assert shown(events) == "Hel"
    assert "overloaded" in failed(events)


@each_wire
async def test_an_end_that_nobody_knows_and_an_empty_answer_do_not_count(wire: Wire) -> None:
    events = await answer_to(wire.name, bytes_of(wire.start, wire.text("x"), wire.end("tired")))
    assert failed(events) == "模型服务结束回答的理由没有见过，这个回答不算：tired"
    events = await answer_to(wire.name, bytes_of(wire.start, wire.end(wire.reasons[0])))
    assert failed(events) == "模型给了一个空的回答，请再试一次"
    nothing = "模型服务什么也没有发来，请检查 --base-url，或再试一次"
    assert failed(await answer_to(wire.name, bytes_of())) == nothing


@each_wire
async def test_a_service_that_says_nothing_is_not_waited_for(wire: Wire) -> None:
    async def silence() -> AsyncIterator[bytes]:
        yield wire.start
        await asyncio.Event().wait()

    with Loopback(lambda path, body: Reply(silence())) as server:
        events = await ask(model_of(wire.name, server.url, timeout=0.05))
    assert failed(events) in (
        "连接在回答的中途断了，请再试一次",
        "模型服务太久没有回应，请再试一次，或检查网络",
    )


@each_wire
async def test_an_answer_that_is_over_is_not_waited_for(wire: Wire) -> None:
    async def open_end() -> AsyncIterator[bytes]:
        yield wire.start + wire.text("hi") + wire.end(wire.reasons[0])
        await asyncio.Event().wait()

    with Loopback(lambda path, body: Reply(open_end())) as server:
        events = await ask(model_of(wire.name, server.url))
    assert message_text(done(events).message) == "hi"
    sent = wire.start + wire.text("hi") + wire.end(wire.reasons[0])
    done(await answer_to(wire.name, bytes_of(sent, dropped=True)))


async def test_what_stands_in_the_beginning_of_a_block_counts() -> None:
    text = block_start(0, {"type": "text", "text": "Hello"})
    block = {"type": "tool_use", "id": "c1", "name": "calc", "input": {"expression": "1+1"}}
    sent = [Messages.start, text, block_start(1, dict(block)), Messages.end("tool_use")]
    message = done(await answer_to("anthropic", bytes_of(*sent))).message
    assert message_text(message) == "Hello"
    assert tool_calls_of(message)[0].arguments == {"expression": "1+1"}


async def test_what_is_no_json_is_told_as_what_it_is() -> None:
    events = await answer_to("openai", bytes_of(Chat.text("hi"), b"data: {oops\n\n"))
    assert failed(events).startswith("读不懂模型服务发来的内容，请再试一次：")


@each_wire
async def test_a_result_says_whether_it_is_an_error(wire: Wire) -> None:
    call = ToolCallContent("c1", "calc", {})
    with Loopback(played_by(RULES_FOR_ALL)) as server:
        history: list[Message] = [
            user_text("hi"),
            AssistantMessage([call], "toolUse"),
            ToolResultMessage("c1", "calc", [TextContent("no")], is_error=True),
        ]
        await ask(model_of(wire.name, server.url), *history)
    assert ("'is_error': True" in str(server.requests)) == (wire.name == "anthropic")


# Time.


@each_wire
async def test_a_piece_is_shown_when_it_comes_and_not_when_all_is_there(wire: Wire) -> None:
    was_shown = threading.Event()

    async def waiting() -> AsyncIterator[bytes]:
        yield wire.start + wire.text("first")
        await asyncio.to_thread(was_shown.wait)
        yield wire.end(wire.reasons[0])

    with Loopback(lambda path, body: Reply(waiting())) as server:
        context = Context([user_text("hi")])
        async with aclosing(model_of(wire.name, server.url)(context, None)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    was_shown.set()
    assert isinstance(event, StreamDone)


@each_wire
async def test_who_leaves_early_leaves_no_connection_open(wire: Wire) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield wire.start
        while True:
            yield wire.text("x")
            await asyncio.sleep(0)

    with Loopback(lambda path, body: Reply(endless())) as server:
        for _ in range(20 if wire.name == "openai" else 5):
            context = Context([user_text("hi")])
            async with aclosing(model_of(wire.name, server.url)(context, None)) as events:
                for _ in range(3):
                    await anext(events)
        async with asyncio.timeout(10):
            while server.open:  # noqa: ASYNC110  It hears of it when it next sends.
                await asyncio.sleep(0)


@each_wire
async def test_a_cancel_keeps_what_was_said_and_hangs_up(wire: Wire) -> None:
    cancel = CancelToken()

    async def half() -> AsyncIterator[bytes]:
        yield wire.start + wire.text("half")
        await asyncio.Event().wait()

    with Loopback(lambda path, body: Reply(half())) as server:
        events = []
        context, options = Context([user_text("hi")]), StreamOptions(cancel=cancel)
        stream = whole_stream(model_of(wire.name, server.url), context, options, cancel)
        async with aclosing(stream):
            async for event in stream:
                events.append(event)
                if event.type == "text_delta":
                    cancel.cancel()
    assert done(events).message == AssistantMessage([TextContent("half")], "aborted")


# What is sent.


@each_wire
async def test_what_is_sent_is_repaired_first(wire: Wire) -> None:
    call = ToolCallContent("c\ud800 1", "ca lc", {"expression": "1\ud800"})
    history: list[Message] = [
        user_text("a\ud800b"),
        AssistantMessage([], "stop"),
        AssistantMessage([TextContent(" ")], "stop"),
        AssistantMessage([TextContent(""), call], "toolUse"),
        user_text("go on"),
    ]
    with Loopback(played_by(RULES_FOR_ALL)) as server:
        events = await ask(model_of(wire.name, server.url), *history)
    assert shown(events) == "ok"
    (request,) = server.requests
    assert list(wire.read(request)) == [
        user_text("a\ufffdb"),
        AssistantMessage([ToolCallContent("c__1", "ca_lc", {"expression": "1\ufffd"})], "toolUse"),
        ToolResultMessage("c__1", "ca_lc", [TextContent("上次运行在此中断，工具没有执行完")]),
        user_text("go on"),
    ]


@each_wire
async def test_arguments_that_json_has_no_words_for_can_be_sent(wire: Wire) -> None:
    call = ToolCallContent("c1", "calc", {"expression": float("nan")})
    with Loopback(played_by(RULES_FOR_ALL)) as server:
        await ask(model_of(wire.name, server.url), AssistantMessage([call], "toolUse"))
    (request,) = server.requests
    (sent, _) = wire.read(request)
    assert isinstance(sent, AssistantMessage)
    assert tool_calls_of(sent)[0].arguments == {"arguments": "{'expression': nan}"}


@each_wire
async def test_the_tools_are_sent_with_their_schemas(wire: Wire) -> None:
    with Loopback(played_by(RULES_FOR_ALL)) as server:
        await ask(model_of(wire.name, server.url))
    (request,) = server.requests
    sent: Any = request["tools"]
    specs = create_builtin_tools().specs()
    tools = [tool.get("function", tool) for tool in sent]
    assert [tool["name"] for tool in tools] == [spec.name for spec in specs]
    assert [tool["description"] for tool in tools] == [spec.description for spec in specs]
    schemas = [tool.get("parameters") or tool["input_schema"] for tool in tools]
    assert schemas == [spec.parameters for spec in specs]


@each_wire
async def test_an_id_that_a_service_leaves_out_is_one_that_nobody_has(wire: Wire) -> None:
    known = ToolCallContent("call_1", "calc", {"expression": "1+1"})
    history: list[Message] = [
        user_text("hi"),
        AssistantMessage([known], "toolUse"),
        ToolResultMessage("call_1", "calc", [TextContent("2")]),
    ]
    nameless = wire.call("calc", ["{}"]).replace(b'"c0"', b'""')
    with replying(bytes_of(wire.start, nameless, wire.end(wire.reasons[1]))) as server:
        message = done(await ask(model_of(wire.name, server.url), *history)).message
    assert [call.id for call in tool_calls_of(message)] == ["call_2"]
