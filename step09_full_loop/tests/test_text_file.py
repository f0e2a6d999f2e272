"""Reading a file: what is kept of it, what is counted, and where both end."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..tools import text_file
from ..tools.text_file import FirstLines, UnreadableError, read_first_lines, why_unreadable

LONG = "…（这一行太长，只显示前 1000 个字符）"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("x" * 1000, "x" * 1000),
        ("x" * 1001, "x" * 1000 + LONG),
        ("😀" * 1000, "😀" * 1000),
        ("😀" * 1001, "😀" * 1000 + LONG),
        ("😀" * 1002, "😀" * 1000 + LONG),
        ("😀" * 1003, "😀" * 1000 + LONG),
        ("😀" * 999 + "x" * 9, "😀" * 999 + "x" + LONG),
        ("x" * 4007, "x" * 1000 + LONG),
        ("x" * 4008, "x" * 1000 + LONG),
        ("x" * 4009, "x" * 1000 + LONG),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\nmore\n"])
def test_a_line_is_shown_up_to_a_thousand_characters(
    line: str, shown: str, end: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(f"{line}{end}".encode())
    rest = ["more"] if "more" in end else []
    assert read_first_lines(file, 40) == FirstLines([shown, *rest], 1 + len(rest), True)


@pytest.mark.parametrize(("over", "counted_all"), [(-1, True), (0, True), (1, False)])
def test_a_file_is_counted_up_to_the_limit_and_no_further(
    over: int, counted_all: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\n" * 30)
    monkeypatch.setattr(text_file, "MAX_READ", 60 - over)
    monkeypatch.setattr(text_file, "CHUNK", 1)
    found = read_first_lines(file, 3)
    assert (found.lines, found.counted_all) == (["a", "a", "a"], counted_all)
    assert found.total == 30


@pytest.mark.parametrize(("limit", "count"), [(4, 2), (5, 3), (6, 3)])
def test_no_line_begins_behind_the_limit(
    limit: int, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\na\na\n")
    monkeypatch.setattr(text_file, "MAX_READ", limit)
    assert read_first_lines(file, 40) == FirstLines(["a"] * count, count, count == 3)


def test_a_single_line_is_read_up_to_the_limit_and_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"x" * 5108)
    monkeypatch.setattr(text_file, "MAX_READ", 5008)
    monkeypatch.setattr(text_file, "CHUNK", 100)
    assert read_first_lines(file, 3) == FirstLines(["x" * 1000 + LONG], 1, False)


def test_the_limits_are_those_that_the_readme_names() -> None:
    assert text_file.MAX_READ == 256 * 2**20
    assert text_file.CHUNK == 2**20


@given(st.lists(st.sampled_from(["", "a", "中文", "a\r"]), max_size=8), st.booleans())
def test_every_line_is_counted_once_wherever_a_chunk_ends(lines: list[str], ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if lines and ended else "")
    whole = text.removesuffix("\n").split("\n") if text else []
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(text_file, "CHUNK", 3)
        file = Path(folder, "a.txt")
        file.write_bytes(text.encode())
        found = read_first_lines(file, 2)
    assert found == FirstLines([line.rstrip("\r") for line in whole[:2]], len(whole), True)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnreadableError("这是文件夹"), "这是文件夹"),
        (FileNotFoundError(2, "gone", "/secret/path"), "没有这个文件，请核对路径"),
        (NotADirectoryError(), "没有这个文件，请核对路径"),
        (PermissionError(), "没有读取它的权限"),
        (OSError("too long"), "这个路径用不了，请换一个"),
        (ValueError("embedded null byte"), "这个路径用不了，请换一个"),
    ],
)
def test_a_reason_is_in_words_for_the_model(error: Exception, reason: str) -> None:
    assert why_unreadable(error) == reason
