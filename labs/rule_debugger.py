"""Which rule of the fake model answers, and why: `make rules`."""

import importlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.child import ChildError, call_in_child
from shared.errors import UsageError
from shared.rules import matching
from shared.screen import visible, wrapped
from shared.steps import ROOT
from shared.trace.recorder import record

from .language import say

LONGEST_KEY = 80  # characters; a tool may have read a whole file into it


@dataclass(frozen=True, slots=True)
class Report:
    lines: list[str]


def rules(step: Path, sentence: str, root: Path = ROOT) -> int:
    """Say `sentence` to a step, print how its rules were chosen, and what is odd about them."""
    if sentence.strip() and not (root / step.name / "agent_loop.py").exists():
        raise UsageError(
            say(
                "{step} has no turns to look at; without INPUT its rules are checked",
                step=step.name,
            )
        )
    try:
        report = call_in_child(root, "labs.rule_debugger:report_of", step.name, sentence)
    except ChildError as error:
        raise UsageError(say("{step} does not run: {error}", step=step.name, error=error)) from None
    for line in report["lines"]:
        text = line.lstrip()
        print(wrapped(visible(text), line.removesuffix(text)))
    return 0


def report_of(package: str, sentence: str) -> Report:
    """Return the lines of `make rules`. It runs in a child: the rules are the reader's."""
    rules = list(importlib.import_module(f"{package}.rules").RULES)
    lines = [
        say(
            "{package}/rules.py: {count} rules, the first that matches answers",
            package=package,
            count=len(rules),
        )
    ]
    if sentence.strip():
        for turn, key in enumerate(match_keys(package, sentence), 1):
            heading = say("turn {turn}, match key {key!r}", turn=turn, key=shortened(key))
            lines += ["", heading, *chosen(rules, key)]
    return Report([*lines, "", *(oddities(rules) or [say("Every rule can be reached.")])])


def match_keys(package: str, sentence: str) -> list[str]:
    """Say one sentence to a step and return the match key of every turn."""
    return [ask.key for ask in record(package, sentence, str(Path.cwd())).asks]


def shortened(key: str) -> str:
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}…"


def chosen(rules: Sequence[Any], key: str) -> list[str]:
    """Return which rule answers `key`, and which others would have; the fallback always would."""
    places = matching(rules, key)
    if not places:
        return [say("  no rule matches, and there is no fallback")]
    first, *others = places
    reply = " ".join(rules[first].reply.split())
    lines = [say("  answered by {rule}: {reply}", rule=named(rules, first), reply=reply)]
    if others := [place for place in others if rules[place].match is not None]:
        lines.append(say("  would have matched too: {rules}", rules=listed(rules, others)))
    return lines


def oddities(rules: Sequence[Any]) -> list[str]:
    """Return what can hardly be meant: rules out of reach, and matches that catch others."""
    found = []
    hidden = hidden_rules(rules)
    for early in dict.fromkeys(hidden.values()):
        behind = listed(rules, [place for place in hidden if hidden[place] == early])
        found.append(out_of_reach(behind, named(rules, early), rules[early].match))
    reachable = [place for place in range(len(rules)) if place not in hidden]
    for early, late in itertools.combinations(reachable, 2):
        if cuts_a_word(rules[late].match, rules[early].match):
            found.append(
                say(
                    "{short} also matches all that {long} does, and only the order keeps them "
                    "apart: is it too short?",
                    short=named(rules, late),
                    long=named(rules, early),
                )
            )
    if all(rule.match for rule in rules):
        found.append(say("There is no fallback: a key that nothing matches ends in an error."))
    return found


def hidden_rules(rules: Sequence[Any]) -> dict[int, int]:
    """Return the place of every rule that can never be reached, and of the one in its way."""
    always = [place for place, rule in enumerate(rules) if not getattr(rule, "earlier", None)]
    catching = {
        late: next((early for early in always if catches(rules[early].match, rule.match)), late)
        for late, rule in enumerate(rules)
    }
    return {late: early for late, early in catching.items() if early < late}


def catches(match: str | None, other: str | None) -> bool:
    """Return whether a rule with `match` answers everything that one with `other` would.

    An empty match is a part of every key, as good as none.
    """
    return (match or "") in (other or "")


def cuts_a_word(short: str | None, long: str | None) -> bool:
    """Return whether `short` is a part of `long` that ends in the middle of a word or number.

    "calc 9" is one of "calc 96". A part that ends with a word, such as "calc" of "calc 96", is
    what somebody writes who wants a general rule behind a special one.
    """
    part = re.escape(short or "")
    return bool(short and re.search(rf"\w\B{part}|{part}\B\w", long or ""))


def out_of_reach(late: str, early: str, match: str | None) -> str:
    if match:
        return say(
            "{late} can never be reached: {early} stands before and matches all of it",
            late=late,
            early=early,
        )
    return say(
        "{late} can never be reached: {early} stands before and matches everything",
        late=late,
        early=early,
    )


def listed(rules: Sequence[Any], places: Sequence[int]) -> str:
    return say(", ").join(named(rules, place) for place in places)


def named(rules: Sequence[Any], place: int) -> str:
    """Return a rule's number, counted from 1, and its match."""
    match = rules[place].match
    if match is None:
        return say("rule {number} (the fallback)", number=place + 1)
    return say("rule {number} (match={match!r})", number=place + 1, match=match)
