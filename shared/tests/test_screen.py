"""Text for a terminal: nothing in it acts, lines break between words, a long one is paged."""

import os
import subprocess
import sys

import pytest

from shared import screen
from shared.screen import visible, width_of, wrapped
from shared.steps import ROOT


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two lines\n\tand a tab", "two lines\n\tand a tab"),
        ("\x1b[2J", "\\x1b[2J"),
        ("one\rtwo", "one\\rtwo"),
        ("\x7f\x9b", "\\x7f\\x9b"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("你好 é", "你好 é"),
    ],
)
def test_controls_are_shown_and_do_not_act(text: str, shown: str) -> None:
    assert visible(text) == shown


class Terminal:
    """An output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a line that is too long for it", ["a line that is too", "long for it"]),
        ("一二三四五六七八九十，一二", ["一二三四五六七八九", "十，一二"]),
        ("一二三四五六七八九十。一二", ["一二三四五六七八九", "十。一二"]),
        ("short\n\nlines", ["short", "", "lines"]),
        ("one_word_that_fits_nowhere_at_all", ["one_word_that_fits_nowhere_at_all"]),
    ],
)
def test_lines_break_between_words_and_around_wide_characters(
    text: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "21")
    monkeypatch.setattr("sys.stdout", Terminal())
    assert wrapped(text).split("\n") == lines
    assert wrapped(text, "  ").split("\n")[0].startswith("  ")


def test_nothing_is_broken_where_there_is_no_terminal() -> None:
    assert wrapped("a " * 500) == "a " * 500


def test_a_wide_character_takes_two_columns() -> None:
    assert width_of("你好, you") == 9


def shown_on_a_terminal(lines: int) -> str:
    """Return what a terminal of 24 lines gets of so many, with a pager that leaves its mark."""
    pty = pytest.importorskip("pty", reason="there are no terminals of this kind here")
    ours, theirs = pty.openpty()
    mark = {
        "PAGER": "sed s/^/paged:/",
        "MANPAGER": "",
        "LINES": "24",
        "COLUMNS": "80",
        "TERM": "vt100",
    }
    with subprocess.Popen(
        [sys.executable, "-c", f"from shared.screen import show; show('行\\n' * {lines})"],
        cwd=ROOT,
        env={**os.environ, **mark},
        stdin=theirs,
        stdout=theirs,
    ):
        os.close(theirs)
        shown = b""
        while shown.count(b"\n") < lines:
            shown += os.read(ours, 10_000)
    os.close(ours)
    return shown.decode()


def test_a_text_that_does_not_fit_the_terminal_is_paged() -> None:
    assert shown_on_a_terminal(50).count("paged:行") == 50
    assert "paged:" not in shown_on_a_terminal(10)


def test_a_text_that_goes_to_a_pipe_is_not_paged(capsys: pytest.CaptureFixture[str]) -> None:
    screen.show("行\n" * 50)
    assert capsys.readouterr().out == "行\n" * 50
