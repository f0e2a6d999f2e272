"""The tasks of step08, as a reader has done them. The working directory is the root."""

import importlib
import json
from pathlib import Path
from typing import Any

from ..breaks import pinned_run
from ..conversation import play_demo
from ..language import say
from ..my_output import check_my_output
from ..script_rules import changed_rule, runs
from ..unasked import unasked_change
from ..verdict import Verdict, differs, done, not_yet, settled
from .asking import repaired_verdict
from .third_wire import provider_verdict

HERE = Path(__file__).parent
# What the tasks of this step ask a reader to change. It is judged by what it does.
ASKED = ("providers.answer.Answer",)
REASONS = {"stop": "stop", "tools": "toolUse", "length": "length"}


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(package, pinned_run(HERE, "demo").transcript)


@settled
def task2(package: str) -> Verdict:
    """Put every piece to the last call."""
    return (
        runs(package)
        or by_index_verdict(package)
        or answers_verdict(package)
        or melted_verdict(package)
        or all_else(package)
        or done(say("two calls of one answer melt together, and one alone is whole"))
    )


@settled
def task3(package: str) -> Verdict:
    """Write a provider for a third wire format."""
    return (
        runs(package)
        or provider_verdict(package)
        or whole_verdict(package)
        or answers_verdict(package)
        or all_else(package)
        or done(say("it reads what the service sends, and survives what it does wrong"))
    )


@settled
def task4(package: str) -> Verdict:
    """Repair a model that asks again."""
    return (
        runs(package)
        or repaired_verdict(package)
        or whole_verdict(package)
        or answers_verdict(package)
        or all_else(package)
        or done(say("it asks again as long as nothing was shown, and never otherwise"))
    )


def all_else(package: str) -> Verdict | None:
    """Return what was changed although no task asks for it, and what that does."""
    known = pinned_run(HERE, "demo").transcript
    seen = play_demo(package)
    if found := unasked_change(package, ASKED) or changed_rule(package, HERE):
        return found
    if seen != known:
        return differs(say("the demo is not what it should be"), say("the demo"), known, seen)
    return None


Piece = tuple[int | None, str | None, str | None, str | None]
FIRST, SECOND = '{"expression": "1+1"}', '{"expression": "12*8"}'
BY_TURNS: list[Piece] = [
    (0, "call_a", "calc", FIRST[:13]),
    (1, "call_b", "calc", SECOND[:13]),
    (0, None, None, FIRST[13:]),
    (1, None, None, SECOND[13:]),
]
# In this order no index is needed.
ONE_BEHIND_THE_OTHER = [BY_TURNS[place] for place in (0, 2, 1, 3)]


def last_event(package: str, *said: Piece | str, reason: str | None = "tools") -> Any:
    """Put pieces of text and of calls into an answer, and return how it ends."""
    answer = importlib.import_module(f"{package}.providers.answer").Answer([])
    for piece in said:
        if isinstance(piece, str):
            answer.add_text(piece)
        else:
            answer.add_to_call(*piece)
    return list(answer.ended(reason, REASONS))[-1]


def written(event: Any) -> list[tuple[str, str]]:
    """Return the calls of an answer: the id of each, and what the model wrote as arguments."""
    if event.type != "done":
        return []
    calls = [block for block in event.message.content if block.type == "toolCall"]
    return [
        (call.id, call.arguments["raw"] if hasattr(call.arguments, "reason") else text_of(call))
        for call in calls
    ]


def text_of(call: Any) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)


MELTED = [("call_a", FIRST[:13]), ("call_b", f"{SECOND[:13]}{FIRST[13:]}{SECOND[13:]}")]
WHOLE = [("call_a", FIRST), ("call_b", SECOND)]


def by_index_verdict(package: str) -> Verdict | None:
    if written(last_event(package, *BY_TURNS)) != WHOLE:
        return None
    return not_yet(
        say("pieces that come by turns still find their call"),
        where=say("what the calls hold"),
        expected=calls_in_words(MELTED),
        seen=calls_in_words(WHOLE),
        guess=say("add_to_call still looks at the index"),
    )


def melted_verdict(package: str) -> Verdict | None:
    seen = written(last_event(package, *BY_TURNS))
    if seen == MELTED:
        return None
    return not_yet(
        say("pieces that come by turns do not go to the last call"),
        where=say("what the calls hold"),
        expected=calls_in_words(MELTED),
        seen=calls_in_words(seen),
        guess=say("a piece goes to the last call, and another id begins another call"),
    )


def whole_verdict(package: str) -> Verdict | None:
    if written(last_event(package, *BY_TURNS)) == WHOLE:
        return None
    return not_yet(
        say("pieces that come by turns do not find their call"),
        guess=say("that was the change of task 2; make reset STEP=08 restores the step"),
    )


def answers_verdict(package: str) -> Verdict | None:
    """Return which answer is put together otherwise than it should be, where no index counts."""
    one = last_event(package, *BY_TURNS[:1], BY_TURNS[2])
    in_turn = last_event(package, *ONE_BEHIND_THE_OTHER)
    for seen, wanted in ((written(one), WHOLE[:1]), (written(in_turn), WHOLE)):
        if seen != wanted:
            return not_yet(
                say("calls whose pieces come one behind the other are not whole any more"),
                where=say("what the calls hold"),
                expected=calls_in_words(wanted),
                seen=calls_in_words(seen),
                guess=say("a piece goes to the last call, and another id begins another call"),
            )
    cut = last_event(package, *BY_TURNS[:1], BY_TURNS[2], reason="length")
    broken = last_event(package, BY_TURNS[0])
    wrong = [
        not hasattr(call.arguments, "reason")
        for event in (cut, broken)
        for call in (event.message.content if event.type == "done" else [])
    ]
    if wrong != [False, False] or not other_ends_are_right(package):
        return not_yet(
            say("something else of Answer is not as it was"),
            guess=say("make reset STEP=08 saves what you have, and restores the step"),
        )
    return None


def other_ends_are_right(package: str) -> bool:
    text = last_event(package, "你", "", "好", reason="stop")
    ends = [last_event(package, "x", reason=None), last_event(package, reason="stop")]
    return (
        text.type == "done"
        and [block.text for block in text.message.content] == ["你好"]
        and [end.type for end in ends] == ["error", "error"]
    )


def calls_in_words(calls: list[tuple[str, str]]) -> str:
    return "  ".join(f"{call_id} {text}" for call_id, text in calls)
