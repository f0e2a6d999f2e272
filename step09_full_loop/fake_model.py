"""A model without a network: it plays a script of rules (chapters 8.2 and 8.3, `fake-model.ts`).

The rules are matched against the last message of the context, whatever that is. They are no
queue of prepared answers: a message that is missing from the context changes what is said next.
"""

import asyncio
import copy
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TypedDict

from .harness_types import (
    AssistantMessage,
    Context,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
    message_text,
)

DELTA_LENGTH = 2  # characters


class ScriptedCall(TypedDict):
    """A tool call as a rule writes it; the id is given when it is played."""

    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the script: if `match` is part of the match key, say `reply`.

    `match` None matches everything. With `error` the stream breaks after the reply, with that text.
    With `tool_call` the model asks for that tool after the reply, and in the same answer for all of
    `more_calls`. With `earlier` the rule matches only if an earlier message contains that text.
    """

    reply: str
    match: str | None = None
    tool_call: ScriptedCall | None = None
    error: str | None = None
    earlier: str | None = None
    more_calls: Sequence[ScriptedCall] = ()


def match_key(context: Context) -> str:
    """Return the text that the rules are matched against: the last message, whoever it is from."""
    if not context.messages:
        return ""
    last = context.messages[-1]
    if last.role == "toolResult":
        return f"toolResult:{last.tool_name} {message_text(last)}"
    return message_text(last)


def matching_rule(rules: Sequence[Rule], key: str, earlier: str = "") -> Rule | None:
    """Return the first rule that matches `key`, or None if there is none.

    `earlier` is what was said before that.
    """
    fitting = (rule for rule in rules if rule.earlier is None or rule.earlier in earlier)
    return next((rule for rule in fitting if rule.match is None or rule.match in key), None)


class FakeModel:
    """A StreamFn that answers by the first rule that matches.

    Its tool calls are numbered call_1, call_2, ... over the life of the object. `calls_before` is
    the number of the last call before that: no id may come twice in a session.
    """

    def __init__(self, rules: Sequence[Rule], *, calls_before: int = 0) -> None:
        self._rules = rules
        self._call_seq = calls_before

    async def __call__(
        self, context: Context, options: StreamOptions | None = None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        """Stream the reply of the matching rule, with `options.delay` seconds between deltas."""
        key = match_key(context)
        earlier = "\n".join(map(message_text, context.messages[:-1]))
        rule = matching_rule(self._rules, key, earlier)
        yield StreamStart()
        if rule is None:
            yield StreamError(f"剧本里没有任何规则命中：{key}")
            return
        for start in range(0, len(rule.reply), DELTA_LENGTH):
            if start and options is not None and options.delay:
                await asyncio.sleep(options.delay)
            yield TextDelta(rule.reply[start : start + DELTA_LENGTH])
        if rule.error is not None:
            yield StreamError(rule.error)
            return
        if rule.tool_call is not None:
            tool_calls = [self._numbered(call) for call in (rule.tool_call, *rule.more_calls)]
            for tool_call in tool_calls:
                yield ToolCallAnnounced(tool_call)
            yield StreamDone(AssistantMessage([TextContent(rule.reply), *tool_calls], "toolUse"))
            return
        yield StreamDone(AssistantMessage([TextContent(rule.reply)], "stop"))

    def _numbered(self, call: ScriptedCall) -> ToolCallContent:
        self._call_seq += 1
        # A tool may change what it is given; the script must stay as it is.
        arguments = copy.deepcopy(call["arguments"])
        return ToolCallContent(f"call_{self._call_seq}", call["name"], arguments)
