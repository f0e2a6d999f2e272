"""What every provider does, whichever SDK is behind it: the contract of a model."""

from collections.abc import AsyncGenerator
from typing import ClassVar

from ..harness_types import (
    AssistantMessage,
    Context,
    Message,
    StreamError,
    StreamEvent,
    StreamStart,
    TextContent,
    TextDelta,
    user_text,
)
from ..providers.answer import Answer
from ..providers.failure import Sdk
from ..providers.sdk_model import SdkModel
from .test_failure import APIConnectionError, Errors, status


class Played(SdkModel):
    """A model that plays pieces of text, and raises what is no text."""

    sdk: ClassVar[Sdk] = Errors()
    key_name: ClassVar[str] = "THE_KEY"

    def __init__(self, *pieces: str | Exception) -> None:
        super().__init__("m", "sk-nobody-may-see-this")
        self.pieces = pieces
        self.asked: list[list[Message]] = []

    async def _events(
        self, messages: list[Message], context: Context, answer: Answer
    ) -> AsyncGenerator[StreamEvent, None]:
        self.asked.append(messages)
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            answer.add_text(piece)
            yield StreamStart() if not piece else TextDelta(piece)
        for event in answer.ended("stop", {"stop": "stop"}):
            yield event


async def events_of(model: SdkModel, *messages: Message) -> list[StreamEvent]:
    return [event async for event in model(Context([*messages]), None)]


async def test_whatever_an_sdk_raises_is_one_error_that_says_what_to_do() -> None:
    events = await events_of(Played(status(401, "sk-nobody-may-see-this")))
    assert events == [StreamError("模型服务不接受这个密钥（401），请检查环境变量 THE_KEY")]
    events = await events_of(Played(RuntimeError("?")))
    assert events == [StreamError("请求没能发出去：?")]


async def test_an_answer_that_breaks_off_is_not_asked_for_again() -> None:
    for error in (APIConnectionError(), ConnectionResetError()):
        model = Played("", "half", error)
        events = await events_of(model, user_text("hi"))
        assert [event.type for event in events] == ["start", "text_delta", "error"]
        assert len(model.asked) == 1


async def test_the_conversation_is_repaired_before_it_is_sent_and_left_alone() -> None:
    model = Played("ok")
    await events_of(model, user_text("hi"), AssistantMessage([TextContent("")], "stop"))
    assert model.asked == [[user_text("hi")]]
