"""A model behind an official SDK. What is the same for every service stands here.

The contract of StreamFn: it never raises, and its last event says how the answer has ended.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import ClassVar

from ..harness_types import (
    Context,
    Message,
    StreamError,
    StreamEvent,
    StreamOptions,
    tool_calls_of,
)
from .answer import Answer
from .failure import Sdk, failure, masked
from .sendable import sendable


class SdkModel(ABC):
    """A StreamFn. Each call is one request; `retries` is how often the SDK may try it again.

    `timeout`: seconds that the service may keep silent. A model on one's own machine may need long.
    """

    sdk: ClassVar[Sdk]
    key_name: ClassVar[str]  # the environment variable

    def __init__(
        self,
        model: str,
        key: str,
        base_url: str | None = None,
        *,
        retries: int = 2,
        timeout: float = 300.0,
    ) -> None:
        self._model = model
        self._key = key
        self._base_url = base_url
        self._retries = retries
        self._timeout = timeout

    async def __call__(
        self, context: Context, options: StreamOptions | None = None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer of the service to `context`, as it comes."""
        begun = False
        try:
            messages = sendable(context.messages)
            calls = [call for m in messages if m.role == "assistant" for call in tool_calls_of(m)]
            answer = Answer(call.id for call in calls)
            async with aclosing(self._events(messages, context, answer)) as events:
                async for event in events:
                    begun = True
                    if event.type == "error":
                        event = StreamError(masked(event.error, self._key))
                    yield event
        except Exception as error:
            sentence = failure(error, self.sdk, begun=begun, key=self._key, key_name=self.key_name)
            yield StreamError(sentence)

    @abstractmethod
    def _events(
        self, messages: list[Message], context: Context, answer: Answer
    ) -> AsyncGenerator[StreamEvent, None]:
        """Send `messages` and the tools of `context`, and put what comes into `answer`.

        Whatever the SDK raises may go through. A client lives as long as its request: so nothing
        stays open when somebody leaves early.
        """
