"""The file of a session: one process appends lines to it, and each is on the disk at once."""

import contextlib
import errno
import io
import os
from pathlib import Path

from ..terminal import visible_line
from .lock import lock


class SessionError(Exception):
    """Why a session cannot be used, in a line for the user."""


class SessionBusyError(SessionError):
    """Another process has it."""


class SessionFile:
    """A file that only grows. If it is a new one, it is made when the first line comes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: io.FileIO | None = None

    def hold(self) -> None:
        """Open the file and keep other processes out.

        SessionBusyError if one of them has it; OSError if it cannot be opened for writing.
        """
        file = open(self.path, "a+b", buffering=0, opener=open_private)  # noqa: SIM115
        try:
            lock(file)
        except OSError as error:
            file.close()
            if not isinstance(error, BlockingIOError):
                raise
            name = visible_line(self.path.name)
            raise SessionBusyError(f"另一个程序正在使用会话 {name}，请先退出它") from None
        self._file = file

    def append(self, line: bytes) -> None:
        """Write one line, and return when it is on the disk. OSError if that cannot be done."""
        if self._file is None:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            self.hold()
            flush_folder(self.path.parent)
        assert self._file is not None
        empty = self._file.seek(0, os.SEEK_END) == 0
        whole = line if ends_with_line(self._file) else b"\n" + line
        try:
            if self._file.write(whole) != len(whole):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError:
            if empty:
                self._file.truncate(0)  # Behind half a header, or two, nothing reads well.
            raise

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def open_private(name: str, flags: int) -> int:
    """Open a file; if this makes it, nobody but its owner can read it."""
    return os.open(name, flags, 0o600)


def ends_with_line(file: io.FileIO) -> bool:
    """Return whether what is appended begins a line: a torn last line has no line feed."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def flush_folder(folder: Path) -> None:
    """Let the name of a new file survive a power cut as well. Windows cannot be asked for that."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_DIRECTORY)
        with contextlib.suppress(OSError):  # Not every file system can do this for a folder.
            os.fsync(descriptor)
        os.close(descriptor)
