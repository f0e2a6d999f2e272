"""A program that a tool starts, and whether it still lives when the tool has ended."""

import asyncio
import socket
from pathlib import Path

# The program starts one more process, as a test runner or a compiler does. Each of the two calls
# `port`, and answers as long as it lives. It ends when nobody listens any more.
PROGRAM = """
import signal, socket, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Only asking it to end is not enough.
if len(sys.argv) == 1:
    nowhere = {{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}}
    subprocess.Popen([sys.executable, __file__, "child"], **nowhere)
with socket.create_connection(("127.0.0.1", {port})) as line:
    line.sendall(b"c" if len(sys.argv) > 1 else b"p")
    while line.recv(1):
        line.sendall(b"!")
"""


class LongProgram:
    """A file that holds the program, and a line to each of the processes that it becomes."""

    def __init__(self, file: Path) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self._lines: dict[bytes, socket.socket] = {}
        port = self._server.getsockname()[1]
        file.write_text(PROGRAM.format(port=port), encoding="utf-8", newline="\n")

    async def up(self) -> None:
        """Return when the program and its child both run."""
        loop = asyncio.get_running_loop()
        while len(self._lines) < 2:
            line, _ = await loop.sock_accept(self._server)
            self._lines[await loop.sock_recv(line, 1)] = line
            line.setblocking(True)

    def lives(self, which: bytes) -> bool:
        """Return whether the program (b"p") or its child (b"c") still answers."""
        try:
            self._lines[which].sendall(b"?")
            return self._lines[which].recv(1) == b"!"
        except OSError:
            return False

    def close(self) -> None:
        """Let what still lives come to its end."""
        for line in (self._server, *self._lines.values()):
            line.close()
