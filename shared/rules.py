"""How the fake model of a step chooses: asked of the step itself, rule by rule."""

import sys
from collections.abc import Sequence
from typing import Any


def matching(rules: Sequence[Any], key: str) -> list[int]:
    """Return the places of all rules that match `key`; the first one answers."""
    return [place for place, rule in enumerate(rules) if matches(rule, key)]


def matches(rule: Any, key: str) -> bool:
    # A reader may have made a rule of a kind of their own: the choice is where `Rule` is.
    modules = [sys.modules[kind.__module__] for kind in type(rule).__mro__]
    step: Any = next(module for module in modules if hasattr(module, "matching_rule"))
    return step.matching_rule([rule], key) is not None


def rule_name(rules: Sequence[Any], place: int) -> str:
    """Return a rule's number, counted from 1, and its match."""
    match = rules[place].match
    return f"rule {place + 1} ({'the fallback' if match is None else f'match={match!r}'})"
