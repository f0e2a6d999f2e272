"""How the fake model of a step chooses: asked of the step itself, rule by rule."""

import inspect
import sys
from collections.abc import Sequence
from typing import Any


def matching(rules: Sequence[Any], key: str, earlier: Sequence[Any] = ()) -> list[int]:
    """Return the places of all rules that match `key`; the first one answers.

    `earlier` are the messages before it. There are steps in which a rule can ask for one of them.
    """
    return [place for place, rule in enumerate(rules) if matches(rule, key, earlier)]


def matches(rule: Any, key: str, earlier: Sequence[Any] = ()) -> bool:
    # A reader may have made a rule of a kind of their own: the choice is where `Rule` is.
    modules = [sys.modules[kind.__module__] for kind in type(rule).__mro__]
    step: Any = next(module for module in modules if hasattr(module, "matching_rule"))
    if "earlier" not in inspect.signature(step.matching_rule).parameters:
        return step.matching_rule([rule], key) is not None
    said = "\n".join(map(step.message_text, earlier))
    return step.matching_rule([rule], key, said) is not None


def rule_name(rules: Sequence[Any], place: int) -> str:
    """Return a rule's number, counted from 1, and its match."""
    match = rules[place].match
    return f"rule {place + 1} ({'the fallback' if match is None else f'match={match!r}'})"
