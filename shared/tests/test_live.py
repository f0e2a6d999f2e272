"""make live: what is measured, with servers that behave in ways that are known."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from shared import live
from shared.errors import UsageError
from shared.steps import find_step
from step08_providers.loopback import Loopback, Reply

STEP = find_step("08")


@pytest.fixture(autouse=True)
def few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "TIMES", 3)


async def body(value: object) -> AsyncIterator[bytes]:
    yield json.dumps(value).encode()


def answered(message: dict[str, object], status: int = 200) -> Reply:
    headers = {"content-type": "application/json", "retry-after-ms": "1"}
    value = {"choices": [{"index": 0, "message": {"role": "assistant", **message}}]}
    return Reply(body(value if status == 200 else message), status=status, headers=headers)


def strict_server(path: str, request: Any) -> Reply:
    """A server that wants every call answered, and a model that obeys only if it has to."""
    if request["messages"][-1]["role"] == "assistant":
        return answered({"error": {"message": "a call has no result"}}, 400)
    name = "expression" if request.get("tool_choice") == "required" else "expr"
    function = {"name": "calc", "arguments": json.dumps({name: "12*8"})}
    return answered({"tool_calls": [{"id": "c", "type": "function", "function": function}]})


def measured(respond: Any, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    with Loopback(respond) as server:
        status = asyncio.run(live.main(STEP.name, server.url, "m"))
    shown = capsys.readouterr()
    return status, [line[live.COLUMNS :] for line in shown.out.splitlines()], shown.err


def test_the_questions_are_put_and_the_answers_counted(capsys: pytest.CaptureFixture[str]) -> None:
    status, answers, _ = measured(strict_server, capsys)
    assert status == 0
    assert answers[:2] == ["0 of 3", "3 of 3"]
    assert answers[2].startswith("refused, HTTP 400: ")
    assert "a call has no result" in answers[2]
    assert answers[3] == "accepted"


def test_a_model_that_only_talks_has_not_corrected_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, answers, _ = measured(lambda path, request: answered({"content": "sorry"}), capsys)
    assert answers == ["0 of 3", "0 of 3", "accepted", "accepted"]


def test_where_nobody_answers_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback(strict_server) as server:
        url = server.url
    assert asyncio.run(live.main(STEP.name, url, "m")) == 2
    assert capsys.readouterr().err.startswith("there is no answer to read")


@pytest.mark.parametrize(("number", "url"), [("07", "http://x"), ("08", "")])
def test_what_is_missing_is_said(number: str, url: str) -> None:
    with pytest.raises(UsageError, match="STEP=08"):
        live.live(find_step(number), url, "m")


def test_a_key_that_the_server_repeats_is_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-may-see-this")
    said: dict[str, object] = {"error": {"message": "wrong key: sk-nobody-may-see-this"}}
    _, answers, _ = measured(lambda path, request: answered(said, 401), capsys)
    assert all(answer.startswith("refused, HTTP 401: ") for answer in answers)
    assert "nobody-may-see" not in "".join(answers)
