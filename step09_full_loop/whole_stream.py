"""A stream that always ends as its contract demands, whatever the model behind it does."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from .cancel import CANCELLED, CancelToken, StoppedError, Waiting, is_being_cancelled
from .harness_types import (
    AssistantMessage,
    ContentBlock,
    Context,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamFn,
    StreamOptions,
    TextContent,
)
from .tools.quoting import error_text, quoted

ENDED_EARLY = "模型没有说完就断了，请再试一次"
EMPTY = "模型给了一个空的回答，请再试一次"


def whole(stream_fn: StreamFn) -> StreamFn:
    """Return the same model with a stream that always ends as its contract demands."""

    def stream(
        context: Context, options: StreamOptions | None = None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        options = options or StreamOptions()
        return whole_stream(stream_fn, context, options, options.cancel or CancelToken())

    return stream


async def whole_stream(
    stream_fn: StreamFn, context: Context, options: StreamOptions, cancel: CancelToken
) -> AsyncGenerator[StreamEvent, None]:
    """Pass on the events of a model; the last one is always one `done` or one `error`.

    A model that raises has failed, and so has one that ends without either. What a cancelled model
    has said so far becomes a message with the stop reason `aborted`; no message if that is nothing.
    """
    said: list[str] = []
    ended = False
    try:
        with Waiting(cancel) as waiting:
            async with aclosing(stream_fn(context, options)) as stream:
                while not ended:
                    event = await waiting.wait(stream.__anext__)
                    if event.type == "error" and cancel.cancelled:
                        raise StoppedError(CANCELLED)
                    if event.type == "text_delta":
                        said.append(event.delta)
                    ended = event.type in ("done", "error")
                    if event.type == "done" and not any(map(says, event.message.content)):
                        event = StreamError(EMPTY)
                    yield event
    except StopAsyncIteration:
        yield StreamError(ENDED_EARLY)
    except StoppedError:
        if any(said):
            yield StreamDone(AssistantMessage([TextContent("".join(said))], "aborted"))
        else:
            yield StreamError(CANCELLED)
    except asyncio.CancelledError:
        if is_being_cancelled() or ended:
            raise
        yield StreamError("模型出错：CancelledError")
    except Exception as error:
        if not ended:  # Else it failed only when it was closed, and has said all that it had to.
            yield StreamError(f"模型出错：{quoted(error_text(error))}")


def says(block: ContentBlock) -> bool:
    return block.type != "text" or bool(block.text)
