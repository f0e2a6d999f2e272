"""A service without a network: what it sends is played into the step's own `Answer`.

The SDKs take long to import, and what is shown here happens behind them.
"""

import json
from collections.abc import AsyncGenerator
from typing import ClassVar

from step08_providers.harness_types import (
    Context,
    Message,
    StopReason,
    StreamEvent,
    StreamStart,
    TextDelta,
    message_text,
)
from step08_providers.providers.answer import Answer
from step08_providers.providers.failure import Sdk
from step08_providers.providers.sdk_model import SdkModel
from step08_providers.providers.sendable import sent_text

KEY = "sk-nobody-may-see-this"
REASONS: dict[str, StopReason] = {"stop": "stop", "tool_calls": "toolUse", "length": "length"}

# A piece of a call, as add_to_call takes it; a piece of text; an exception; or the end.
CallPiece = tuple[int | None, str | None, str | None, str | None]
Piece = CallPiece | str | Exception | list[str]


class Refusal(Exception):  # noqa: N818  The SDKs name it like this.
    """The service refuses a request."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code


class Errors:
    """The errors of an SDK, as far as they are looked at."""

    APIError: type[Exception] = Refusal
    APIConnectionError: type[Exception] = ConnectionError
    APITimeoutError: type[Exception] = TimeoutError


class Recorded(SdkModel):
    """A model that gives one recorded answer after the other."""

    sdk: ClassVar[Sdk] = Errors()
    key_name: ClassVar[str] = "OPENAI_API_KEY"

    def __init__(self, *answers: list[Piece]) -> None:
        super().__init__("recorded", KEY)
        self._left = list(answers)

    async def _events(
        self, messages: list[Message], context: Context, answer: Answer
    ) -> AsyncGenerator[StreamEvent, None]:
        receive(messages)
        pieces = self._left.pop(0)
        if isinstance(pieces[0], Refusal):
            raise pieces[0]
        reason: str | None = None
        yield StreamStart()
        for piece in pieces:
            match piece:
                case str():
                    answer.add_text(piece)
                case tuple():
                    answer.add_to_call(*piece)
                case list():
                    (reason,) = piece
                case _:
                    raise piece
            for delta in answer.new_text():
                yield TextDelta(delta)
        for event in answer.ended(reason, REASONS):
            yield event


def receive(messages: list[Message]) -> None:
    """Take a request as a service does, which gets it as bytes."""
    json.dumps([sent_text(message_text(m)) for m in messages], ensure_ascii=False).encode()
