"""A service that answers what a test wants, and a model that is asked through its real SDK."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing

from ..harness_types import Context, Message, StreamEvent, user_text
from ..loopback import Loopback, Reply
from ..loopback.chat_wire import DONE, chat_chunk, chat_messages
from ..loopback.messages_wire import block_delta, block_start, messages_of, sent
from ..providers import SERVICES
from ..providers.sdk_model import SdkModel
from ..tools import create_builtin_tools

KEY = "sk-a-key-that-nobody-may-see"


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def replying(*replies: Callable[[], Reply]) -> Loopback:
    """Return a server that gives one reply after the other, and the last one ever after."""
    left = list(replies)
    return Loopback(lambda path, body: (left.pop(0) if len(left) > 1 else left[0])())


def bytes_of(*parts: bytes, **options: object) -> Callable[[], Reply]:
    return lambda: Reply(pieces(*parts), **options)  # type: ignore[arg-type]


def refusing(status: int, message: str = "no") -> Callable[[], Reply]:
    """Return a reply that refuses. Whoever tries again need not wait."""
    body = json.dumps({"error": {"message": message, "type": "some_error"}}).encode()
    headers = {"content-type": "application/json", "retry-after-ms": "1"}
    return lambda: Reply(pieces(body), status=status, headers=headers)


def model_of(provider: str, url: str, *, retries: int = 0, timeout: float = 10.0) -> SdkModel:
    from importlib import import_module

    module, name, *_ = SERVICES[provider]
    package = SdkModel.__module__.rpartition(".")[0]
    service: type[SdkModel] = getattr(import_module(f"{package}.{module}"), name)
    return service("a-model", KEY, url, retries=retries, timeout=timeout)


async def ask(model: SdkModel, *messages: Message) -> list[StreamEvent]:
    context = Context(list(messages) or [user_text("hi")], create_builtin_tools().specs())
    async with aclosing(model(context, None)) as events:
        return [event async for event in events]


async def answer_to(
    provider: str, *replies: Callable[[], Reply], retries: int = 0
) -> list[StreamEvent]:
    """Return the events of one answer."""
    with replying(*replies) as server:
        return await ask(model_of(provider, server.url, retries=retries))


class Chat:
    """What a service of the first wire format sends."""

    name = "openai"
    start = b""

    @staticmethod
    def text(delta: str) -> bytes:
        return chat_chunk({"content": delta})

    @staticmethod
    def call(name: str, arguments: Iterable[str], number: int = 0) -> bytes:
        first, *rest = arguments
        named = {
            "index": number,
            "id": f"c{number}",
            "function": {"name": name, "arguments": first},
        }
        more = [{"index": number, "function": {"arguments": part}} for part in rest]
        return b"".join(chat_chunk({"tool_calls": [piece]}) for piece in [named, *more])

    @staticmethod
    def end(reason: str) -> bytes:
        return chat_chunk({}, reason) + DONE

    reasons = ("stop", "tool_calls", "length")
    read = staticmethod(chat_messages)
    error = b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'


class Messages:
    """What a service of the second one sends."""

    name = "anthropic"
    start = sent("message_start", message={"usage": {"input_tokens": 0, "output_tokens": 0}})

    @staticmethod
    def text(delta: str) -> bytes:
        return block_start(0, {"type": "text", "text": ""}) + block_delta(
            0, {"type": "text_delta", "text": delta}
        )

    @staticmethod
    def call(name: str, arguments: Iterable[str], number: int = 0) -> bytes:
        start = block_start(
            number, {"type": "tool_use", "id": f"c{number}", "name": name, "input": {}}
        )
        deltas: list[dict[str, object]] = [
            {"type": "input_json_delta", "partial_json": part} for part in arguments
        ]
        return start + b"".join(block_delta(number, delta) for delta in deltas)

    @staticmethod
    def end(reason: str) -> bytes:
        usage = {"output_tokens": 0}
        return sent("message_delta", delta={"stop_reason": reason}, usage=usage) + sent(
            "message_stop"
        )

    reasons = ("end_turn", "tool_use", "max_tokens")
    read = staticmethod(messages_of)
    error = sent("error", error={"type": "overloaded_error", "message": "overloaded"})


Wire = type[Chat] | type[Messages]
WIRES: list[Wire] = [Chat, Messages]
