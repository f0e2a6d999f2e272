"""What a command prints: however much that is, only the beginning is kept."""

from asyncio import StreamReader

MAX_LINES = 40
MAX_LINE_LENGTH = 1000  # characters
MAX_KEPT = MAX_LINES * 4 * (MAX_LINE_LENGTH + 1)  # bytes
CHUNK = 64 * 1024  # bytes


class FirstOutput:
    """The first lines of an output, and how many there were."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._feeds = 0
        self._last = b"\n"

    async def read(self, stream: StreamReader) -> None:
        """Read to the end. A program that prints without end must not fill the memory."""
        while chunk := await stream.read(CHUNK):
            self._kept += chunk[: MAX_KEPT - len(self._kept)]
            self._feeds += chunk.count(b"\n")
            self._last = chunk[-1:]

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
