"""An answer that comes in pieces: text, and tool calls whose arguments arrive a few letters a time.

Each provider says what it has received; what becomes of it is the same for all.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..harness_types import (
    AssistantMessage,
    ContentBlock,
    StopReason,
    StreamDone,
    StreamError,
    StreamEvent,
    TextContent,
    ToolCallAnnounced,
    ToolCallContent,
    UnusableArguments,
    Usage,
)
from ..tools.quoting import quoted
from ..tools.validate import json_type

NOT_ENDED = "回答没有结束就断了，请再试一次"
UNKNOWN_END = "模型服务结束回答的理由没有见过，这个回答不算：{}"
NOTHING = "模型服务什么也没有发来，请检查 --base-url，或再试一次"
EMPTY = "模型给了一个空的回答，请再试一次"
CUT = "输出到了长度上限，这次调用被截断，没有执行。请分成小一些的步骤重来"


@dataclass(slots=True)
class OpenCall:
    """A call that is not complete yet. `index` is the number that the service gives it.

    `whole` are arguments that came all at once; pieces that come later are worth more.
    """

    index: object
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    whole: str = ""


class Answer:
    """What a model has said so far. `ids` are those of the calls that the conversation has."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.usage = Usage(0, 0)
        self._ids = set(ids)
        self._text: list[str] = []
        self._shown = 0
        self._calls: list[OpenCall] = []

    def add_text(self, delta: object) -> None:
        if isinstance(delta, str) and delta:
            self._text.append(delta)

    def new_text(self) -> list[str]:
        """Return the pieces of text that have come since the last time."""
        new, self._shown = self._text[self._shown :], len(self._text)
        return new

    def add_to_call(
        self, index: object, call_id: object, name: object, arguments: object, whole: object = None
    ) -> None:
        """Put a piece to the call that it belongs to; a piece without an index is of the last one.

        The id comes with the first piece. Another id is another call, even under the same index.
        """
        given = as_text(call_id)
        same = [call for call in self._calls if index in (None, call.index)][-1:]
        if not same or (given and same[0].id and given != same[0].id):
            same = [OpenCall(index, "")]
            self._calls += same
        (call,) = same
        call.id = call.id or given
        call.name = call.name or as_text(name)
        call.arguments.append(as_text(arguments))
        call.whole = call.whole or (as_text(whole) if whole else "")

    def ended(
        self, reason: str | None, stop_reasons: Mapping[str, StopReason]
    ) -> Iterator[StreamEvent]:
        """Give the last events of the stream: each call, now that it is complete, and the end.

        `reason` is the service's word for why it has stopped; None if it never said so.
        """
        stop_reason = stop_reasons.get(reason or "")
        if stop_reason is None:
            unknown = UNKNOWN_END.format(quoted(str(reason)))
            broken = NOT_ENDED if self._text or self._calls else NOTHING
            yield StreamError(broken if reason is None else unknown)
            return
        text, calls = "".join(self._text), self._complete_calls(cut=stop_reason == "length")
        if not text.strip() and not calls:
            yield StreamError(EMPTY)
            return
        for call in calls:
            yield ToolCallAnnounced(call)
        content: list[ContentBlock] = [TextContent(text)] if text else []
        if stop_reason != "length":  # Some services say "stop" although there are calls.
            stop_reason = "toolUse" if calls else "stop"
        usage = self.usage if self.usage != Usage(0, 0) else None  # It did not count.
        yield StreamDone(AssistantMessage([*content, *calls], stop_reason), usage)

    def _complete_calls(self, *, cut: bool) -> list[ToolCallContent]:
        complete = []
        for call in self._calls:
            raw = "".join(call.arguments) or call.whole
            arguments = UnusableArguments(raw, CUT) if cut else parsed(raw)
            complete.append(ToolCallContent(self._own_id(call.id), call.name, arguments))
        return complete

    def _own_id(self, given: str) -> str:
        """Return the id of a call, or a new one: some services give none, or the same one again."""
        number = len(self._ids) + 1
        while not given or given in self._ids:
            given, number = f"call_{number}", number + 1
        self._ids.add(given)
        return given


def as_text(value: object) -> str:
    """Return what should be text, whatever a service has sent: some send arguments as an object."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def count(value: object) -> int:
    """Return a number of tokens: 0 for what a service has sent instead."""
    return value if type(value) is int else 0


def parsed(raw: str) -> dict[str, object]:
    """Return the arguments that a JSON text stands for. Nothing at all stands for none.

    What is no JSON object is kept as the model wrote it, with a reason that `validate` tells it.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=refuse)
        json.dumps(value, allow_nan=False)  # 1e999 is a number in JSON, and infinity here.
    except (ValueError, RecursionError):
        return UnusableArguments(raw, f"参数不是合法的 JSON：{quoted(raw)}")
    if not isinstance(value, dict):
        return UnusableArguments(raw, f"参数应为一个 JSON 对象，实际是 {json_type(value)}")
    return value


def refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
