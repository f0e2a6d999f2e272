"""How the fake model chooses: the first rule whose match is part of the key, in any step."""

from collections.abc import Sequence
from typing import Any


def matching(rules: Sequence[Any], key: str) -> list[int]:
    """Return the places of all rules that match `key`; the first one answers."""
    return [n for n, rule in enumerate(rules) if rule.match is None or rule.match in key]


def rule_name(rules: Sequence[Any], place: int) -> str:
    """Return a rule's number, counted from 1, and its match."""
    match = rules[place].match
    return f"rule {place + 1} ({'the fallback' if match is None else f'match={match!r}'})"
