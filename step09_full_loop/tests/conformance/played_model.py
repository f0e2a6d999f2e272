"""The model of a scenario: it says what the scenario has written down for it."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from ...cancel import CancelToken
from ...harness_types import (
    AssistantMessage,
    ContentPiece,
    StreamDone,
    StreamEvent,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
)
from .lines import js_json


class PlayedError(Exception):
    """An error that a scenario asks for."""


class Answer:
    """One turn of the script. `so_far` is what the model has made of its answer up to now."""

    def __init__(self, turn: dict[str, Any]) -> None:
        self._turn = turn
        self.so_far = AssistantMessage([], "pending")

    async def events(self, cancel: CancelToken) -> AsyncGenerator[StreamEvent, None]:
        """Give the events one after the other. It looks for a cancel before each of them."""
        turn, delay = self._turn, self._turn.get("delayMs", 0) / 1000
        breaks = turn.get("iterThrow")
        for count, piece in enumerate(self._pieces()):
            if breaks and count >= turn.get("iterThrowAfter", 2):
                raise PlayedError(breaks)
            if delay:
                await asyncio.sleep(delay)
            if cancel.cancelled and piece.type != "start":
                yield self._ended("aborted", "Request was aborted")
                return
            # Without a start Pi tells nobody of the pieces; only the whole message counts then.
            if turn.get("start", True):
                yield piece
        if breaks:
            raise PlayedError(breaks)
        if delay:
            await asyncio.sleep(delay)
        if cancel.cancelled:
            yield self._ended("aborted", "Request was aborted")
            return
        calls = turn.get("toolCalls")
        reason = turn.get("stopReason") or ("toolUse" if calls else "stop")
        yield self._ended(reason, turn.get("errorMessage"))

    def _ended(self, reason: Any, error: str | None) -> StreamDone:
        return StreamDone(AssistantMessage([*self.so_far.content], reason, error))

    def _pieces(self) -> Iterator[StreamEvent]:
        turn, content = self._turn, self.so_far.content
        if turn.get("start", True):
            yield StreamStart()
        place = 0
        if thinking := turn.get("thinking"):
            yield ContentPiece("thinking_start", place)
            yield ContentPiece("thinking_delta", place, thinking)
            yield ContentPiece("thinking_end", place)
            place += 1
        if text := turn.get("text"):
            content.append(TextContent(""))
            yield ContentPiece("text_start", place)
            size = -(-len(text) // turn.get("deltas", 1))
            for at in range(0, len(text), size):
                content[-1] = TextContent(text[: at + size])
                yield TextDelta(text[at : at + size])
            yield ContentPiece("text_end", place)
            place += 1
        for call in turn.get("toolCalls") or []:
            wanted = ToolCallContent(call["id"], call["name"], call.get("arguments", {}))
            content.append(wanted)
            yield ContentPiece("toolcall_start", place)
            yield ContentPiece("toolcall_delta", place, js_json(wanted.arguments))
            yield ToolCallAnnounced(wanted)
            place += 1
