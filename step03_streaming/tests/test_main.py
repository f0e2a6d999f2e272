"""The conversation: what is answered, what is kept, and what is said first and last."""

import asyncio
import io
import locale
import sys
from collections.abc import Iterator

import pytest

from ..harness_types import message_text
from ..main import chat, known_words, main
from .fake_terminal import FakeTerminal

WORDS = ["你好", "断线"]
OPENING: list[str] = []  # The lines that stand first, on a terminal and on a pipe.
GOODBYE = "再见。（本次对话共 {} 条消息）\n"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the model has waited between two pieces of its text; nobody waits for it here."""
    pauses: list[float] = []

    async def note(delay: float) -> None:
        pauses.append(delay)

    monkeypatch.setattr(asyncio, "sleep", note)
    return pauses


def test_a_conversation_answers_its_lines_until_exit(capsys: pytest.CaptureFixture[str]) -> None:
    context = chat(["", " ", "  你好 ", " /exit ", "你好"])
    assert [message.role for message in context.messages] == ["user", "assistant"]
    assert message_text(context.messages[0]) == "你好"
    assert capsys.readouterr().out.endswith(f"\n\n{GOODBYE.format(2)}")


def test_a_conversation_without_exit_ends_with_its_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert chat([]).messages == []
    assert capsys.readouterr().out == GOODBYE.format(0)


def test_an_answer_that_breaks_off_is_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    context = chat(["断线", "你好"])
    assert [message.role for message in context.messages] == ["user", "user", "assistant"]
    assert "助手> 我正说到一半，\n[错误] 连接断了\n\n" in capsys.readouterr().out


def test_ctrl_c_is_a_polite_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    def typed() -> Iterator[str]:
        yield "你好"
        raise KeyboardInterrupt

    assert len(chat(typed()).messages) == 2
    assert capsys.readouterr().out.endswith(f"\n\n\n{GOODBYE.format(2)}")


def test_a_conversation_waits_for_nothing_by_default(pauses: list[float]) -> None:
    chat(["你好"])
    assert pauses == []
    chat(["你好"], delay=60)
    assert set(pauses) == {60}


def test_the_script_knows_the_words_of_its_rules() -> None:
    assert known_words() == WORDS


@pytest.mark.skipif(not hasattr(locale, "nl_langinfo"), reason="needs the locales of POSIX")
def test_a_terminal_is_told_what_can_be_said_and_sees_the_model_type(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    screen = FakeTerminal()
    monkeypatch.setattr(sys, "stdin", FakeTerminal("你好\n"))
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(locale, "nl_langinfo", lambda item: "UTF-8")
    pytest.importorskip("readline")
    monkeypatch.delitem(sys.modules, "readline")
    main([])
    first = f"输入一句话开始，/exit 离开。剧本认得的字样：{'、'.join(WORDS)}"
    shown = "".join(f"{line}\n" for line in [first, *OPENING])
    assert screen.getvalue().startswith(f"{shown}你> ")
    assert "助手> 你好！" in screen.getvalue()
    assert "readline" in sys.modules
    assert set(pauses) == {0.03}


def test_a_pipe_gets_its_answers_at_once(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\n/exit\n"))
    main([])
    shown = capsys.readouterr().out
    assert shown.startswith("".join(f"{line}\n" for line in [*OPENING, "你> 你好"]))
    assert "助手> 你好！" in shown
    assert shown.endswith(f"\n\n你> /exit\n{GOODBYE.format(2)}")
    assert pauses == []


def test_a_pipe_is_utf8_whatever_the_locale_says(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    typed = io.BytesIO("\ufeff你好\n".encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, encoding="ascii"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    main([])
    sys.stdout.flush()
    assert "你> 你好\n" in shown.getvalue().decode()


def test_an_argument_that_nobody_expects_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--new\n", "x"])
    assert capsys.readouterr() == ("", "这里不需要参数，请去掉：--new\\n\n")
