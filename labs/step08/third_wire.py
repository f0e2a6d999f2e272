"""What a reader's provider for Ollama makes of all that the service may send (see served.py)."""

import json
from typing import Any

from ..language import say
from ..verdict import Verdict, not_yet
from .served import Answered, Service, called, ended, line, spoken

# A line separator is no line feed, and a letter of Chinese is more than one byte.
TEXTS = ["你好", "，\u2028世", "界。"]


def provider_verdict(package: str) -> Verdict | None:
    with Service(package) as service:
        return read_verdict(service) or broken_verdict(service) or sent_verdict(service)


def read_verdict(service: Service) -> Verdict | None:
    """Let the service do all that it should, and look at what is made of it."""
    text = [*map(spoken, TEXTS), ended()]
    return (
        text_verdict(service.answer(*text), say("an answer of three pieces"))
        or at_once_verdict(service)
        or text_verdict(
            service.answer(*(bytes([byte]) for byte in b"".join(text))),
            say("the same answer, one byte at a time"),
        )
        or calls_verdict(
            service.answer(spoken("我算。"), called({"expression": "1+1"}), ended()), 1
        )
        or calls_verdict(
            service.answer(called({"expression": "1+1"}, {"expression": "2+2"}), ended()), 2
        )
        or calls_verdict(
            service.answer(called({"expression": "1+1"}), called({"expression": "2+2"}), ended()), 2
        )
        or cut_verdict(service)
        or new_id_verdict(service)
    )


def text_verdict(answered: Answered, where: str) -> Verdict | None:
    text = "".join(TEXTS)
    last = answered.last
    if not answered.raised and last is not None and last.type == "done":
        content = [getattr(block, "text", "") for block in last.message.content]
        if answered.text == text and content == [text] and last.message.stop_reason == "stop":
            return counted_verdict(last, where)
    guess = ""
    if answered.text.replace("\u2028", "") != text.replace("\u2028", "") or answered.raised:
        guess = say("a line ends at a line feed and at nothing else, and may come in pieces")
    return wrong(
        say("a text is not read as it was sent"), where, f"{text!r}, done", answered, guess
    )


def counted_verdict(last: Any, where: str) -> Verdict | None:
    usage = last.usage
    if usage is not None and (usage.input_tokens, usage.output_tokens) == (12, 3):
        return None
    return not_yet(
        say("the tokens of the answer are not told"),
        where=where,
        expected="Usage(12, 3)",
        seen=str(usage),
        guess=say("prompt_eval_count and eval_count stand in the last line"),
    )


def at_once_verdict(service: Service) -> Verdict | None:
    if service.first_piece_is_shown_at_once():
        return None
    return not_yet(
        say("a piece of text is shown only when the next one has come, or all of them"),
        guess=say("yield each TextDelta while you read, and not behind the loop"),
    )


def calls_verdict(answered: Answered, count: int) -> Verdict | None:
    wanted = [{"expression": "1+1"}, {"expression": "2+2"}][:count]
    calls = kept_calls(answered)
    where = say("an answer with {count} calls", count=count)
    if [(call.name, dict(call.arguments)) for call in calls] != [("calc", w) for w in wanted]:
        return wrong(
            say("the calls of an answer are not those that were sent"),
            where,
            ", ".join(f"calc {one}" for one in wanted),
            answered,
            say("a call comes whole, and each is another one although none has an id"),
        )
    if answered.announced != calls or answered.last.message.stop_reason != "toolUse":
        expected = f"{count} × toolcall, done toolUse"
        return wrong(say("calls are announced, and end an answer"), where, expected, answered)
    if len({call.id for call in calls} - {""}) != count:
        return not_yet(
            say("the service gives no ids, and the calls have not got different ones"),
            where=where,
            expected="call_1, call_2",
            seen=", ".join(repr(call.id) for call in calls),
        )
    return None


def kept_calls(answered: Answered) -> list[Any]:
    last = answered.last
    if answered.raised or last is None or last.type != "done":
        return []
    return [block for block in last.message.content if block.type == "toolCall"]


def cut_verdict(service: Service) -> Verdict | None:
    where = say("an answer that was cut (done_reason is length)")
    answered = service.answer(spoken("我正说到"), ended("length"))
    if answered.raised or answered.last is None or answered.last.type != "done":
        return wrong(say("an answer that was cut is kept"), where, "done length", answered)
    if answered.last.message.stop_reason != "length":
        return wrong(say("an answer that was cut is told as such"), where, "done length", answered)
    answered = service.answer(called({"expression": "1+1"}), ended("length"))
    if any(not hasattr(call.arguments, "reason") for call in kept_calls(answered)):
        return wrong(
            say("a call of an answer that was cut would run"),
            where,
            "UnusableArguments",
            answered,
            say("Answer does that, if it is told that the reason is length"),
        )
    return None


def new_id_verdict(service: Service) -> Verdict | None:
    answered = service.answer(
        called({"expression": "1+1"}), ended(), messages=conversation(service, "96")
    )
    ids = [call.id for call in kept_calls(answered)]
    if len(ids) == 1 and ids[0] not in ("call_1", "call_2"):
        return None
    return wrong(
        say("a call gets an id that the conversation has already"),
        "call_1, call_2",
        "call_3",
        answered,
        say("Answer makes up ids, if it is told those that there are"),
    )


def conversation(service: Service, result: str) -> list[Any]:
    """Return messages with a call that has a result, and one that never got one."""
    return service.history(
        "帮我算",
        service.call("call_1", {"expression": "12*8"}),
        service.result("call_1", result),
        service.call("call_2", {"expression": "1+1"}),
        "还在吗",
    )


def broken_verdict(service: Service) -> Verdict | None:
    """Let the service do what it should not: each time one error has to come of it."""
    said = spoken("我正说到")
    overloaded = line(error="model runner has stopped")
    faults = {
        say("an error line inside the stream"): service.answer(said, overloaded),
        say("an answer without its last line"): service.answer(said),
        say("a connection that breaks off"): service.answer(said, dropped=True),
        say("a connection that breaks off in a line"): service.answer(said, said[:9], dropped=True),
        say("an answer with nothing in it"): service.answer(ended()),
        say("status 404"): service.answer(line(error="model not found"), status=404),
        say("status 500"): service.answer(b"oops", status=500),
        say("a line that is no JSON"): service.answer(b"<html>\n", ended()),
        say("a line that is no object"): service.answer(b"[1]\n", ended()),
        say("nobody who listens"): service.nobody_there(),
    }
    for where, answered in faults.items():
        kinds = [event.type for event in answered.events]
        ends = [kind for kind in kinds if kind in ("done", "error")]
        if answered.raised or ends != ["error"] or kinds[-1] != "error":
            found = say("what goes wrong is not told by one error at the end")
            return wrong(found, where, say("one error, and nothing behind it"), answered)
    where = say("an error line inside the stream")
    if "model runner has stopped" not in faults[where].last.error:
        expected = "error … model runner has stopped"
        return wrong(
            say("the error does not say what the service said"), where, expected, faults[where]
        )
    return None


def sent_verdict(service: Service) -> Verdict | None:
    """Look at the request: everything has to be in it, and repaired."""
    answered = service.answer(spoken("在。"), ended(), messages=conversation(service, "96\ud83d"))
    if answered.last is None or answered.last.type != "done":
        return wrong(
            say("a conversation with half of a letter in it cannot be sent"),
            say("the request"),
            "done",
            answered,
            say("sent_text of providers/sendable.py replaces what cannot be encoded"),
        )
    body = answered.body
    if not answered.path.endswith("/api/chat") or body.get("model") != "a-model":
        seen = f"{answered.path} {body.get('model')}"
        return not_yet(
            say("the request goes elsewhere, or to another model"),
            where=say("the request"),
            expected="/api/chat a-model",
            seen=seen,
        )
    return messages_verdict(body) or tools_verdict(body)


def messages_verdict(body: dict[str, Any]) -> Verdict | None:
    messages = body.get("messages") or []
    roles = [message.get("role") for message in messages]
    wanted = ["user", "assistant", "tool", "assistant", "tool", "user"]
    if roles != wanted:
        return not_yet(
            say("the messages of the request are not those that the service has to get"),
            where=say("their roles"),
            expected=", ".join(wanted),
            seen=", ".join(map(str, roles)),
            guess=say("sendable gives every call its result"),
        )
    calls = [call.get("function") for call in messages[1].get("tool_calls") or []]
    if calls != [{"name": "calc", "arguments": {"expression": "12*8"}}]:
        return not_yet(
            say("the call of the history is not sent as the service wants it"),
            where="tool_calls",
            expected='[{"function": {"name": "calc", "arguments": {"expression": "12*8"}}}]',
            seen=json.dumps(messages[1].get("tool_calls"), ensure_ascii=False),
            guess=say("arguments are an object here, and no text"),
        )
    if messages[0]["content"] != "帮我算" or not messages[2]["content"].startswith("96"):
        return not_yet(
            say("what was said is not in the request"),
            where="content",
            expected="帮我算, 96",
            seen=f"{messages[0]['content']}, {messages[2]['content']}",
        )
    if messages[2].get("tool_name") != "calc":
        return not_yet(
            say("a result does not say which tool it is from"),
            where="tool_name",
            expected="calc",
            seen=str(messages[2].get("tool_name")),
        )
    return None


def tools_verdict(body: dict[str, Any]) -> Verdict | None:
    tools = [tool.get("function") or {} for tool in body.get("tools") or []]
    named = {tool.get("name"): tool.get("parameters") or {} for tool in tools}
    if list(named) == ["calc", "read_file", "run_command"] and all(named.values()):
        return None
    return not_yet(
        say("the tools are not in the request, or not with their parameters"),
        where="tools",
        expected='{"type": "function", "function": {"name": "calc", …, "parameters": {…}}}, …',
        seen=json.dumps(body.get("tools"), ensure_ascii=False),
    )


def wrong(found: str, where: str, expected: str, answered: Answered, guess: str = "") -> Verdict:
    if answered.raised:
        guess = say("a model never raises: the last event says what went wrong")
    return not_yet(found, where=where, expected=expected, seen=answered.in_words(), guess=guess)
