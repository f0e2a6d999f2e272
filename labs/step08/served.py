"""A reader's provider for Ollama, asked over a real connection by a service that may misbehave."""

import asyncio
import importlib
import json
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, not_yet

NDJSON = {"content-type": "application/x-ndjson"}
SECONDS = 3  # Nothing here takes long, and what hangs is not waited for.


def spoken(text: str) -> bytes:
    return line(message={"role": "assistant", "content": text}, done=False)


def called(*arguments: dict[str, object]) -> bytes:
    """Return a line with calls of calc. This service gives no ids."""
    calls = [{"function": {"name": "calc", "arguments": one}} for one in arguments]
    return line(message={"role": "assistant", "content": "", "tool_calls": calls}, done=False)


def ended(reason: str = "stop") -> bytes:
    return line(
        message={"role": "assistant", "content": ""},
        done=True,
        done_reason=reason,
        prompt_eval_count=12,
        eval_count=3,
    )


def line(**fields: object) -> bytes:
    return json.dumps({"model": "a-model", **fields}, ensure_ascii=False).encode() + b"\n"


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@dataclass(slots=True)
class Answered:
    """What the provider made of one answer: its events, and the request that it sent."""

    events: list[Any]
    raised: str = ""
    path: str = ""
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(event.delta for event in self.events if event.type == "text_delta")

    @property
    def announced(self) -> list[Any]:
        return [event.tool_call for event in self.events if event.type == "toolcall"]

    @property
    def last(self) -> Any:
        return self.events[-1] if self.events else None

    def in_words(self) -> str:
        """Return the events as one line for a reader."""
        if self.raised:
            return self.raised
        return ", ".join(map(event_in_words, self.events))


def event_in_words(event: Any) -> str:
    match event.type:
        case "text_delta":
            return f"text_delta {event.delta!r}"
        case "toolcall":
            return f"toolcall {event.tool_call.name} {event.tool_call.arguments}"
        case "done":
            return f"done {event.message.stop_reason}"
        case "error":
            return f"error {event.error}"
    return str(event.type)


class Service:
    """A server that sends what it is told to, and the reader's provider that asks it."""

    def __init__(self, package: str) -> None:
        file = Path(package, "providers", "ollama.py")
        if not file.exists():
            raise FoundError(not_yet(say("there is no {file}", file=file.as_posix())))
        module = importlib.import_module(f"{package}.providers.ollama")
        self._types: Any = importlib.import_module(f"{package}.harness_types")
        self._server_module: Any = importlib.import_module(f"{package}.loopback.server")
        self._tools = importlib.import_module(f"{package}.tools").create_builtin_tools().specs()
        if not hasattr(module, "Ollama"):
            found = say("there is no class {name} in {file}", name="Ollama", file=file.as_posix())
            raise FoundError(not_yet(found))
        self._new_model = module.Ollama
        self._model: Any = None
        self._replies: list[Any] = []
        self._seen: list[tuple[str, dict[str, Any]]] = []
        self._server = self._server_module.Loopback(self._respond)

    def __enter__(self) -> "Service":
        # A proxy between a reader and the world has nothing to do with this server.
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
        self._server.__enter__()
        self._model = self._new_model("a-model", self._server.url)
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.__exit__(*error)

    def _respond(self, path: str, body: dict[str, Any]) -> Any:
        self._seen.append((path, body))
        if not self._replies:  # The same request a second time.
            return self._server_module.Reply(pieces(), status=500)
        return self._replies.pop(0)

    def answer(
        self, *parts: bytes, status: int = 200, dropped: bool = False, messages: Any = None
    ) -> Answered:
        """Let the service send `parts`, and return what the provider makes of them."""
        return self.asked(pieces(*parts), status, dropped, messages)

    def asked(
        self, parts: Any, status: int = 200, dropped: bool = False, messages: Any = None
    ) -> Answered:
        self._replies[:] = [self._server_module.Reply(parts, status, NDJSON, dropped)]
        self._seen.clear()
        answered = self.listen(self._model, messages)
        if self._seen:
            answered.path, answered.body = self._seen[0]
        return answered

    def nobody_there(self) -> Answered:
        """Ask an address where nobody listens."""
        with self._server_module.Loopback(self._respond) as gone:
            url = gone.url
        return self.listen(self._new_model("a-model", url), None)

    def listen(self, model: Any, messages: Any) -> Answered:
        answered = Answered([])
        context = self._types.Context(messages or [self._types.user_text("hi")], self._tools)

        async def listen() -> None:
            async with aclosing(model(context, self._types.StreamOptions())) as events:
                async for event in events:
                    answered.events.append(event)

        try:
            asyncio.run(asyncio.wait_for(listen(), SECONDS))
        except TimeoutError:
            answered.raised = say("it does not end")
        except Exception as error:
            answered.raised = f"{type(error).__name__}: {error}"
        return answered

    def first_piece_is_shown_at_once(self) -> bool:
        """Return whether a piece of text arrives while the service still holds back the next."""
        arrived = threading.Event()
        shown: list[bool] = []

        async def waiting() -> AsyncIterator[bytes]:
            yield spoken("a")
            shown.append(await asyncio.to_thread(arrived.wait, 0.5))
            yield spoken("b") + ended()

        def model(context: Any, options: Any) -> Any:
            return noticed(self._model(context, options), arrived.set)

        self._replies[:] = [self._server_module.Reply(waiting(), 200, NDJSON)]
        self.listen(model, None)
        return shown == [True]

    def history(self, *said: Any) -> list[Any]:
        """Return messages: a text is what the user said, and the rest are messages already."""
        return [self._types.user_text(one) if isinstance(one, str) else one for one in said]

    def call(self, call_id: str, arguments: dict[str, object]) -> Any:
        block = self._types.ToolCallContent(call_id, "calc", arguments)
        return self._types.AssistantMessage([block], "toolUse")

    def result(self, call_id: str, text: str) -> Any:
        content = [self._types.TextContent(text)]
        return self._types.ToolResultMessage(call_id, "calc", content)


async def noticed(events: Any, notice: Callable[[], None]) -> AsyncIterator[Any]:
    """Pass on events, and tell of each piece of text."""
    async with aclosing(events):
        async for event in events:
            if event.type == "text_delta":
                notice()
            yield event
