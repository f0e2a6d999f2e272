"""The terminal: what is read from it, what is shown on it, and what must not act on it."""

import errno
import io
import locale
import os
import sys
from pathlib import Path

import pytest

from ..terminal import (
    on_terminal,
    quiet_end,
    shown_lines,
    typed_lines,
    use_readline,
    use_utf8,
    visible,
    visible_line,
)
from .fake_terminal import FakeTerminal


class UnspeakableObject:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


# What acts on a screen.

ACTING = (
    [chr(code) for code in range(0x20) if chr(code) not in "\n\t"]
    + [chr(code) for code in range(0x7F, 0xA0)]
    + list("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
)


def test_a_character_that_a_screen_would_act_on_becomes_an_escape() -> None:
    for character in ACTING:
        escape = ascii(character)[1:-1]
        assert escape.startswith("\\")
        assert visible(f"a{character}b") == visible_line(f"a{character}b") == f"a{escape}b"


def test_an_escape_says_which_character_it_was() -> None:
    assert visible("\x1b[2J\r\x00\x7f\x9b\u202e") == r"\x1b[2J\r\x00\x7f\x9b\u202e"


def test_everything_else_is_shown_as_it_is() -> None:
    text = " ~中文，。é😀\xa0\xad\u200d\u2027\u202f\u2065\u206a\\x1b"
    assert visible(text) == visible_line(text) == text


def test_a_line_feed_and_a_tab_act_in_a_text_and_not_in_a_line() -> None:
    assert visible("a\n\tb") == "a\n\tb"
    assert visible_line("a\n\tb") == r"a\n\tb"


def test_an_object_that_is_no_text_is_shown_as_python_writes_it() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert visible(None) == visible_line(None) == "None"
    assert visible(["\x1b"]) == r"['\x1b']"
    assert visible(deep) == visible_line(deep) == "<list>"
    assert visible(UnspeakableObject()) == "<UnspeakableObject>"


# Lines in and out.


def test_a_script_is_shown_as_if_it_had_been_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(shown_lines(["你好", "\x1b[2J"])) == ["你好", "\x1b[2J"]
    assert capsys.readouterr().out == "你> 你好\n你> \\x1b[2J\n"


def test_the_lines_of_a_pipe_are_shown_and_given_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\r\n\x1b[2J"))
    assert list(typed_lines()) == ["你好", "\x1b[2J"]
    assert capsys.readouterr().out == "你> 你好\n你> \\x1b[2J\n你> \n"


def test_a_terminal_has_shown_already_what_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = FakeTerminal()
    monkeypatch.setattr(sys, "stdin", FakeTerminal("你好\n"))
    monkeypatch.setattr(sys, "stdout", screen)
    assert list(typed_lines()) == ["你好"]
    assert screen.getvalue() == "你> 你> \n"


@pytest.mark.parametrize("name", ["stdin", "stdout"])
def test_a_stream_that_is_closed_is_the_end_of_the_input(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\n"))
    monkeypatch.setattr(sys, name, None)
    assert list(typed_lines()) == []
    assert not on_terminal()


def test_a_terminal_that_is_gone_is_the_end_of_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(prompt: str) -> str:
        raise OSError("Input/output error")

    monkeypatch.setattr("builtins.input", fail)
    assert list(typed_lines()) == []


@pytest.mark.parametrize(
    ("stdin", "stdout", "there"),
    [
        (FakeTerminal(), FakeTerminal(), True),
        (FakeTerminal(), io.StringIO(), False),
        (io.StringIO(), FakeTerminal(), False),
    ],
)
def test_a_terminal_is_there_if_somebody_types_and_reads(
    stdin: io.StringIO, stdout: io.StringIO, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert on_terminal() is there


# Languages.


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "utf-8"])
def test_the_streams_are_utf8_whatever_the_locale_says(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed, shown, errors = (
        io.BytesIO("\ufeff你好\n".encode() + b"\xd6\n"),
        io.BytesIO(),
        io.BytesIO(),
    )
    for name, stream in [("stdin", typed), ("stdout", shown), ("stderr", errors)]:
        text = io.TextIOWrapper(stream, encoding=encoding, errors="strict", newline="\r\n")
        monkeypatch.setattr(sys, name, text)
    use_utf8()
    assert sys.stdin.read() == "你好\n\ufffd\n"
    print("你好\udc80")
    print("不好\udc80", file=sys.stderr, flush=True)
    sys.stdout.flush()
    assert shown.getvalue() == "你好\\udc80\n".encode()
    assert errors.getvalue() == "不好\\udc80\n".encode()


def test_streams_that_have_no_encoding_or_are_closed_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\n"))
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    use_utf8()
    assert sys.stdin.read() == "你好\n"


@pytest.mark.skipif(not hasattr(locale, "nl_langinfo"), reason="needs the locales of POSIX")
@pytest.mark.parametrize(("codeset", "there"), [("UTF-8", True), ("ANSI_X3.4-1968", False)])
def test_lines_are_edited_only_in_a_utf8_locale(
    codeset: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("readline")
    monkeypatch.setattr(locale, "nl_langinfo", lambda item: codeset)
    monkeypatch.delitem(sys.modules, "readline")
    use_readline()
    assert ("readline" in sys.modules) is there


@pytest.mark.parametrize("missing", ["readline", "nl_langinfo"])
def test_a_platform_without_readline_does_without(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing == "readline":
        monkeypatch.setattr(locale, "nl_langinfo", lambda item: "UTF-8", raising=False)
        monkeypatch.setitem(sys.modules, "readline", None)
    else:
        monkeypatch.delattr(locale, "nl_langinfo", raising=False)
    use_readline()


# The end.


def test_a_reader_who_has_seen_enough_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_reads, pipe = os.pipe()
    os.close(nobody_reads)
    with os.fdopen(pipe, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with quiet_end():
            print("你好", flush=True)
        print("what is printed now goes nowhere", flush=True)


@pytest.mark.parametrize("code", [errno.EPIPE, errno.EIO])
def test_a_screen_that_is_gone_is_no_failure(
    code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "said.txt").open("w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with quiet_end():
            raise OSError(code, "nobody is there")


def test_the_last_words_are_written_before_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "said.txt").open("w", encoding="utf-8") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with quiet_end():
            print("再见")
        assert (tmp_path / "said.txt").read_text("utf-8") == "再见\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w") as stdout:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", stdout)
        with pytest.raises(SystemExit, match="2"), quiet_end():
            print("你好")
    assert capsys.readouterr().err == "输出写不进去：No space left on device\n"


def test_an_error_that_is_not_about_the_screen_passes() -> None:
    with pytest.raises(FileNotFoundError), quiet_end():
        Path("no such file").read_text("utf-8")
    with pytest.raises(KeyError), quiet_end():
        raise KeyError("path")
