"""The server: it reads a request, asks a function for the reply, and sends that piece by piece."""

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the service answers. `dropped`: the connection breaks behind the last piece."""

    pieces: AsyncIterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: bool = False


# The path and the body of a request, and what is answered to it.
Respond = Callable[[str, dict[str, object]], Reply]


class Loopback:
    """A server in a thread of its own, for as long as a `with` block lasts; `url` is its address.

    `requests` are the bodies that have come, and `open` is how many connections there are now.
    """

    def __init__(self, respond: Respond) -> None:
        self.requests: list[dict[str, object]] = []
        self.open = 0
        self.url = ""
        self._respond = respond
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        self._ready.set()
        await self._stop.wait()
        server.close()  # The answers that are still on their way are cancelled with the loop.

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                path, body = await read_request(reader)
                self.requests.append(body)
                try:
                    reply = self._respond(path, body)
                except (KeyError, ValueError) as error:
                    reply = Reply(refusal(error), 400, {"content-type": "application/json"})
                await send(reply, writer)
        except asyncio.CancelledError:
            pass  # The server is closed, and this answer with it.
        finally:
            self.open -= 1
            writer.close()


async def refusal(error: Exception) -> AsyncIterator[bytes]:
    """Give the body of a reply that refuses a request."""
    yield json.dumps({"error": {"message": str(error), "type": "invalid_request_error"}}).encode()


async def read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, object]]:
    head = await reader.readuntil(HEAD_END)
    length = LENGTH.search(head)
    body = await reader.readexactly(int(length[1]) if length else 0)
    return head.split(b" ")[1].decode(), json.loads(body)


async def send(reply: Reply, writer: asyncio.StreamWriter) -> None:
    """Send a reply in chunks. Without the empty one at its end the other side sees a break."""
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} -", *(f"{name}: {text}" for name, text in headers.items())]
    writer.write("\r\n".join([*lines, "connection: close"]).encode() + HEAD_END)
    async for piece in reply.pieces:
        if piece:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
    if not reply.dropped:
        writer.write(b"0\r\n\r\n")
        await writer.drain()
