"""What a command prints: however much that is, only the beginning is kept."""

from asyncio import StreamReader
from collections.abc import Callable

MAX_LINES = 40
MAX_LINE_LENGTH = 1000  # characters
MAX_KEPT = MAX_LINES * 4 * (MAX_LINE_LENGTH + 1)  # bytes
CHUNK = 64 * 1024  # bytes


class FirstOutput:
    """The first lines of an output, and how many there were. `tell` gets each as it comes."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = 0
        self._kept = bytearray()
        self._feeds = 0
        self._last = b"\n"

    async def read(self, stream: StreamReader) -> None:
        """Read to the end. A program that prints without end must not fill the memory."""
        while chunk := await stream.read(CHUNK):
            self._kept += chunk[: MAX_KEPT - len(self._kept)]
            self._feeds += chunk.count(b"\n")
            self._last = chunk[-1:]
            if self._told < MAX_LINES:
                self._tell_what_is_new()

    def _tell_what_is_new(self) -> None:
        lines = self._kept.split(b"\n")[:-1]  # The last one may not be complete.
        for line in lines[self._told : MAX_LINES]:
            self._tell(shortened(line.decode("utf-8", "replace")))
        self._told = len(lines)

    def text(self) -> str:
        """Return the lines as one text. A model has to be told that there are more of them."""
        lines = self._kept.decode("utf-8", "replace").removesuffix("\n").split("\n")
        shown = "\n".join(map(shortened, lines[:MAX_LINES]))
        total = self._feeds + (self._last != b"\n")
        if total > min(len(lines), MAX_LINES):
            return f"{shown}\n…（共 {total} 行，只显示前 {min(len(lines), MAX_LINES)} 行）"
        return shown if shown.strip() else "（没有输出）"


def shortened(line: str) -> str:
    line = line.removesuffix("\r")
    if len(line) <= MAX_LINE_LENGTH:
        return line
    return f"{line[:MAX_LINE_LENGTH]}…（这一行太长，只显示前 {MAX_LINE_LENGTH} 个字符）"
