"""Which rule of the fake model answers, and why: `make rules`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.child import ChildError, call_in_child
from shared.errors import UsageError
from shared.rules import matching, rule_name
from shared.steps import ROOT
from shared.trace.recorder import record

from .scenes import rules_of

LONGEST_KEY = 80  # characters; a tool may have read a whole file into it


@dataclass(frozen=True, slots=True)
class Report:
    lines: list[str]


def rules(step: Path, sentence: str, root: Path = ROOT) -> int:
    """Say `sentence` to a step, print how its rules were chosen, and what is odd about them."""
    if sentence.strip() and not (root / step.name / "agent_loop.py").exists():
        raise UsageError(
            f"{step.name} has no turns to look at; without INPUT its rules are checked"
        )
    try:
        report = call_in_child(root, "labs.rule_debugger:report_of", step.name, sentence)
    except ChildError as error:
        raise UsageError(f"{step.name} does not run: {error}") from None
    print("\n".join(report["lines"]))
    return 0


def report_of(package: str, sentence: str) -> Report:
    """Return the lines of `make rules`. It runs in a child: the rules are the reader's."""
    rules = rules_of(package)
    lines = [f"{package}/rules.py: {len(rules)} rules, the first that matches answers"]
    if sentence.strip():
        for turn, key in enumerate(match_keys(package, sentence), 1):
            lines += ["", f"turn {turn}, match key {shortened(key)!r}", *chosen(rules, key)]
    return Report([*lines, "", *(oddities(rules) or ["Every rule can be reached."])])


def match_keys(package: str, sentence: str) -> list[str]:
    """Say one sentence to a step and return the match key of every turn."""
    moments = record(package, sentence, str(Path.cwd())).moments
    return [moment.match_key for moment in moments if moment.event == "start"]


def shortened(key: str) -> str:
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}…"


def chosen(rules: list[Any], key: str) -> list[str]:
    """Return which rule answers `key`, and which others would have."""
    places = matching(rules, key)
    if not places:
        return ["  no rule matches, and there is no fallback"]
    lines = [f"  answered by {rule_name(rules, places[0])}: {rules[places[0]].reply}"]
    return lines + [f"  would have matched too: {rule_name(rules, n)}" for n in places[1:]]


def oddities(rules: list[Any]) -> list[str]:
    """Return what can hardly be meant: rules out of reach, and matches that catch others."""
    found = []
    for place, rule in enumerate(rules):
        for other in range(place):
            if catches(rules[other].match, rule.match):
                found.append(
                    f"{rule_name(rules, place)} can never be reached: "
                    f"{rule_name(rules, other)} stands before it and matches all that it would"
                )
                break
    for place, rule in enumerate(rules):
        for other in range(place):
            if rule.match and rules[other].match and catches(rule.match, rules[other].match):
                found.append(
                    f"{rule_name(rules, place)} is so short that it matches all of "
                    f"{rule_name(rules, other)} too: only the order keeps them apart"
                )
    if all(rule.match is not None for rule in rules):
        found.append("There is no fallback: a key that nothing matches ends in an error.")
    return found


def catches(match: str | None, other: str | None) -> bool:
    """Return whether a rule with `match` answers everything that one with `other` would."""
    return match is None or (other is not None and match in other)
