"""read_file: the beginning of a text file, nothing outside, and a way on from every refusal."""

import contextlib
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from ..tools import text_file
from ..tools.read_file import READ_FILE
from ..tools.tool_types import ToolContext, ToolResult

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX file system")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The working directory of the tool, with a secret beside it."""
    (tmp_path / "secret.txt").write_text("TOPSECRET")
    (tmp_path / "work-secret").mkdir()
    (tmp_path / "work-secret" / "x.txt").write_text("TOPSECRET")
    work = tmp_path / "work"
    work.mkdir()
    return work


async def read(work: Path, path: str) -> ToolResult:
    return await READ_FILE.execute({"path": path}, ToolContext(cwd=work))


def lines(count: int, end: str = "\n") -> bytes:
    return "".join(f"line {n}{end}" for n in range(1, count + 1)).encode()


FIRST_40 = "\n".join(f"line {n}" for n in range(1, 41))


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (b"hello\n", "hello"),
        (b"hello", "hello"),
        (b"a\n\nb\n", "a\n\nb"),
        (b" a \t\nX\n", " a \t\nX"),
        (b"\xef\xbb\xbfhello\n", "hello"),
        (b"a\r\nb\r\n", "a\nb"),
        ("中文\u2028还是这一行\n".encode(), "中文\u2028还是这一行"),
        (b"", "（文件里没有文字）"),
        (b"\n \n", "（文件里没有文字）"),
        (lines(40), FIRST_40),
        (lines(40).rstrip(b"\n"), FIRST_40),
        (lines(41), f"{FIRST_40}\n…（共 41 行，只显示前 40 行）"),
        (lines(41, "\r\n"), f"{FIRST_40}\n…（共 41 行，只显示前 40 行）"),
        (lines(40) + b"tail", f"{FIRST_40}\n…（共 41 行，只显示前 40 行）"),
        (lines(1000) * 1000, f"{FIRST_40}\n…（共 1000000 行，只显示前 40 行）"),
        (b"x" * 1000, "x" * 1000),
        (b"x" * 1001 + b"\nend", "x" * 1000 + "…（这一行太长，只显示前 1000 个字符）\nend"),
        ("😀".encode() * 5000, "😀" * 1000 + "…（这一行太长，只显示前 1000 个字符）"),
        (("\ufeff" + "😀" * 5000).encode(), "😀" * 1000 + "…（这一行太长，只显示前 1000 个字符）"),
        (("a" + "😀" * 5000).encode(), "a" + "😀" * 999 + "…（这一行太长，只显示前 1000 个字符）"),
    ],
)
async def test_a_file_is_shown_from_its_beginning(work: Path, content: bytes, answer: str) -> None:
    (work / "a.txt").write_bytes(content)
    assert await read(work, "a.txt") == ToolResult(answer)


BINARY = "这是二进制文件，只能读文本文件"
NO_UTF8 = "它不是 UTF-8 编码的文本，只能读 UTF-8 文本文件"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04\0\0", BINARY),
        ("中文内容".encode("gbk"), NO_UTF8),
        (b"Hello \xed\xa0\x80 World", NO_UTF8),
        ("hi".encode("utf-16"), BINARY),
        (b"caf\xe9", NO_UTF8),
        (b"ok\n\xe4\xbd", NO_UTF8),
        (b"ok\n\xe4\xbd\n", NO_UTF8),
    ],
)
async def test_a_file_that_is_no_text_is_refused(work: Path, content: bytes, reason: str) -> None:
    (work / "a.txt").write_bytes(content)
    assert await read(work, "a.txt") == ToolResult(f"读不了「a.txt」：{reason}", is_error=True)


@contextlib.contextmanager
def at_most_10_megabytes() -> Iterator[None]:
    """Fail if more memory than that is in use at once."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


@posix
async def test_a_huge_file_is_neither_read_nor_counted_to_its_end(work: Path) -> None:
    with (work / "huge.log").open("wb") as file:
        file.write(lines(50))
        file.truncate(2 * 1024**3)  # The rest is a hole: it takes no room on the disk.
    with at_most_10_megabytes():
        answer = await read(work, "huge.log")
    assert answer == ToolResult(f"{FIRST_40}\n…（至少 51 行，只显示前 40 行）")


async def test_a_line_of_50_megabytes_is_read_but_not_kept(work: Path) -> None:
    (work / "one.txt").write_bytes(b"x" * 50_000_000 + b"\nend\n")
    with at_most_10_megabytes():
        answer = await read(work, "one.txt")
    assert answer.content == "x" * 1000 + "…（这一行太长，只显示前 1000 个字符）\nend"


async def test_a_line_without_end_is_not_taken_for_the_whole_file(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "MAX_READ", 5000)
    (work / "one.txt").write_bytes(b"x" * 50_000)
    monkeypatch.setattr(text_file, "CHUNK", 100)
    assert (await read(work, "one.txt")).content.endswith("\n…（至少 1 行，只显示前 1 行）")


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "sub/../a.txt"])
async def test_a_file_inside_is_read_whatever_its_path_looks_like(work: Path, path: str) -> None:
    (work / "sub").mkdir()
    (work / "a.txt").write_text("hello")
    assert await read(work, path) == ToolResult("hello")
    assert await read(work, str(work / "a.txt")) == ToolResult("hello")


@pytest.mark.parametrize(
    "path", ["../secret.txt", "sub/../../secret.txt", "../work-secret/x.txt", "/etc/hosts", ".."]
)
async def test_a_file_outside_is_refused_by_the_name_it_was_given(work: Path, path: str) -> None:
    answer = await read(work, path)
    assert answer == ToolResult(f"拒绝访问工作目录之外的路径：{path}", is_error=True)


@pytest.mark.parametrize("path", ["door/secret.txt", "leak.txt"])
async def test_a_link_is_judged_by_where_it_leads(work: Path, path: str) -> None:
    try:
        (work / "leak.txt").symlink_to("../secret.txt")
        (work / "door").symlink_to("..", target_is_directory=True)
    except OSError:
        pytest.skip("links are not allowed here")
    (work / "a.txt").write_text("hello")
    (work / "inside.txt").symlink_to("a.txt")
    answer = await read(work, path)
    assert answer == ToolResult(f"拒绝访问工作目录之外的路径：{path}", is_error=True)
    assert await read(work, "inside.txt") == ToolResult("hello")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing.txt", "没有这个文件，请核对路径"),
        ("a.txt/b.txt", "没有这个文件，请核对路径"),
        ("~/.ssh/id_rsa", "没有这个文件，请核对路径"),
        (".", "这是文件夹，请给出其中一个文件的路径"),
        ("", "这是文件夹，请给出其中一个文件的路径"),
        ("sub", "这是文件夹，请给出其中一个文件的路径"),
        ("a\0.txt", "这个路径用不了，请换一个"),
        ("\ud800.txt", "这个路径用不了，请换一个"),
        ("n" * 5000, "这个路径用不了，请换一个"),
    ],
)
async def test_a_refusal_says_what_to_do_and_shows_no_other_path(
    work: Path, path: str, reason: str
) -> None:
    (work / "sub").mkdir()
    (work / "a.txt").write_text("hello")
    answer = await read(work, path)
    assert answer.is_error
    assert answer.content.endswith(f"」：{reason}")
    assert str(work) not in answer.content
    assert len(answer.content.encode()) < 500


@posix
async def test_only_a_regular_file_is_opened(work: Path) -> None:
    os.mkfifo(work / "pipe")
    (work / "zero").symlink_to("/dev/zero")
    (work / "loop").symlink_to("loop")
    assert (
        await read(work, "pipe")
    ).content == "读不了「pipe」：这不是普通文件，只能读普通的文本文件"
    assert (await read(work, "zero")).content == "拒绝访问工作目录之外的路径：zero"
    assert (await read(work, "loop")).content == "读不了「loop」：这个路径用不了，请换一个"
    devices = Path("/dev")
    assert "这不是普通文件" in (await read(devices, "zero")).content


@posix
@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root reads all")
async def test_a_file_without_permission_is_refused(work: Path) -> None:
    (work / "a.txt").write_text("hello")
    (work / "a.txt").chmod(0)
    assert (await read(work, "a.txt")).content == "读不了「a.txt」：没有读取它的权限"


async def test_a_working_directory_may_itself_be_a_link(work: Path) -> None:
    (work / "a.txt").write_text("hello")
    link = work.with_name("link")
    try:
        link.symlink_to(work)
    except OSError:
        pytest.skip("links are not allowed here")
    assert await read(link, "a.txt") == ToolResult("hello")


async def test_reading_does_not_hold_up_the_event_loop(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a.txt").write_text("hello")
    threads = []
    real_open = os.open

    def open_and_look(name: str, flags: int) -> int:
        threads.append(threading.current_thread())
        return real_open(name, flags)

    monkeypatch.setattr(os, "open", open_and_look)
    await read(work, "a.txt")
    assert threads
    assert threading.main_thread() not in threads


@posix
@pytest.mark.parametrize(
    ("become", "reason"),
    [
        (lambda path: os.mkfifo(path), "这不是普通文件，只能读普通的文本文件"),
        (partial(os.symlink, "../secret.txt"), "这个路径用不了，请换一个"),
    ],
    ids=["fifo", "link"],
)
async def test_a_file_that_is_replaced_after_the_check_is_not_followed_or_waited_for(
    become: Callable[[Path], None], reason: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a.txt").write_text("hello")
    real_open = os.open

    def swap_and_open(name: str, flags: int) -> int:
        (work / "a.txt").unlink()
        become(work / "a.txt")
        return real_open(name, flags)

    monkeypatch.setattr(os, "open", swap_and_open)
    assert await read(work, "a.txt") == ToolResult(f"读不了「a.txt」：{reason}", is_error=True)
