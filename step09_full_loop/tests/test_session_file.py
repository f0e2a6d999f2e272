"""The file of a session: lines that are whole and on the disk, whatever the disk says."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..sessions import session_file
from ..sessions.session_file import SessionBusyError, SessionFile


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as if the disk was full then."""
    resource = pytest.importorskip("resource", reason="needs the limits of POSIX")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".sessions" / "s.jsonl"


def test_a_line_is_on_the_disk_before_the_next_thing_happens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[object] = []

    def note(descriptor: int) -> None:
        found = os.fstat(descriptor)
        flushed.append("folder" if stat.S_ISDIR(found.st_mode) else found.st_size)

    monkeypatch.setattr(os, "fsync", note)
    with closing(SessionFile(path)) as file:
        file.append(b"one\n")
        assert flushed == (["folder", 4] if hasattr(os, "O_DIRECTORY") else [4])
        file.append(b"three\n")
        assert flushed[-1] == 10


def test_what_follows_half_a_line_begins_a_line_of_its_own(path: Path) -> None:
    with closing(SessionFile(path)) as file:
        file.append(b"one\n")
        with room_for(6), pytest.raises(OSError, match="No space left"):
            file.append(b"three\n")
        file.append(b"three\n")
        file.append(b"four\n")
    assert path.read_bytes() == b"one\nth\nthree\nfour\n"


def test_a_write_that_fails_half_way_leaves_the_next_line_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        """A disk that takes 10 bytes and then says that it is full."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: bytes) -> int:
            self.file.write(data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

    with closing(SessionFile(path)) as file:
        file.append(b"one\n")
        real = vars(file)["_file"]
        monkeypatch.setattr(file, "_file", Full(real))
        with pytest.raises(OSError, match="No space left"):
            file.append(b"a long line\n")
        monkeypatch.setattr(file, "_file", real)
        file.append(b"two\n")
    assert path.read_bytes() == b"one\na long lin\ntwo\n"


def test_half_a_header_is_taken_back_since_it_would_spoil_the_whole_file(path: Path) -> None:
    with closing(SessionFile(path)) as file:
        for _ in range(2):
            with room_for(2), pytest.raises(OSError, match="No space left"):
                file.append(b"header\n")
        file.append(b"header\n")
    assert path.read_bytes() == b"header\n"


def test_a_header_that_cannot_be_flushed_does_not_stand_there_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")

    with closing(SessionFile(path)) as file:
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="Input/output error"):
                file.append(b"header\n")
        file.append(b"header\n")
    assert path.read_bytes() == b"header\n"


def test_a_hostile_name_of_a_file_in_use_is_shown_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J.jsonl"
    with closing(SessionFile(path)) as file, closing(SessionFile(path)) as second:
        file.append(b"one\n")
        with pytest.raises(SessionBusyError, match=r"会话 a\\x1b\[2J\.jsonl，请先退出它"):
            second.hold()


def test_a_file_system_without_locks_is_not_taken_for_a_file_in_use(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(session_file, "lock", refuse)
    with closing(SessionFile(path)) as file, pytest.raises(OSError, match="No locks available"):
        file.append(b"one\n")
    assert path.read_bytes() == b""
