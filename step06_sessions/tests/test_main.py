"""The conversation: what is answered, what is kept, and what is said first and last."""

import asyncio
import io
import locale
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..harness_types import message_text
from ..main import chat, known_words, main
from .fake_terminal import FakeTerminal

WORDS = ["你好", "断线", "12*8", "除以零", "写错参数", "刚才", "note.txt", "README.md", "etc/hosts"]
OPENING = ["可用工具：calc, read_file"]  # The lines that stand first, on a terminal and on a pipe.
COMMANDS = "/tree 看分支，/back N 退回 N 句话，从那里另说一句。"
GOODBYE = "再见。（本次对话共 {} 条消息）\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a session that is kept be kept where no other test looks."""
    monkeypatch.chdir(tmp_path)


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
    shown = "".join(f"{line}\n" for line in [first, COMMANDS, *OPENING])
    assert screen.getvalue().startswith(f"{shown}[会话] 新会话，保存在 .sessions/")
    assert "助手> 你好！" in screen.getvalue()
    assert "readline" in sys.modules
    assert set(pauses) == {0.03}


def test_a_pipe_gets_its_answers_at_once(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\n/exit\n"))
    main([])
    shown = capsys.readouterr().out
    assert shown.startswith("".join(f"{line}\n" for line in OPENING))
    assert "\n你> 你好\n" in shown
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
    refusal = "参数不对：unrecognized arguments: --new\\n x（--help 看用法）\n"
    assert capsys.readouterr() == ("", refusal)


def test_the_specs_of_the_tools_are_in_the_context() -> None:
    assert [spec.name for spec in chat([]).tools] == ["calc", "read_file"]


def test_the_tools_work_in_the_folder_they_are_given_or_else_in_the_current_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "note.txt").write_text(folder.name, "utf-8")
    monkeypatch.chdir(here)
    assert message_text(chat(["note.txt"]).messages[2]) == "here"
    assert message_text(chat(["note.txt"], cwd=there).messages[2]) == "there"
