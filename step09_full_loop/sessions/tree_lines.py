"""The tree as people see it: what the user said, line by line, with the branches."""

from collections import defaultdict
from collections.abc import Sequence

from ..harness_types import message_text
from ..terminal import visible_line
from .tree import Entry, SessionTree, is_sentence

SHOWN_LENGTH = 30  # characters of what was said

# An entry, what stands before it, and what stands before the lines below it.
Branch = tuple[Entry, str, str]


def tree_lines(tree: SessionTree) -> list[str]:
    """Return the whole tree, with how far back each sentence of the current branch is."""
    below = sentences_below(tree)
    steps = {entry.id: count for count, entry in enumerate(reversed(tree.sentences()), 1)}
    lines = []
    waiting = branches(below[None], "")
    while waiting:
        entry, first, rest = waiting.pop()
        mark, back = ("●", f"（/back {steps[entry.id]}）") if entry.id in steps else ("○", "")
        lines.append(f"{first}{mark} {shortened(entry)}{back}")
        waiting += branches(below[entry.id], rest)
    return lines


def sentences_below(tree: SessionTree) -> dict[str | None, list[Entry]]:
    """Return for each thing that the user said what was said next: in several branches, several."""
    below: dict[str | None, list[Entry]] = defaultdict(list)
    last: dict[str | None, str | None] = {None: None}  # The last sentence up to an entry.
    for entry in tree.entries.values():
        before = last[entry.parent_id]
        last[entry.id] = entry.id if is_sentence(entry) else before
        if is_sentence(entry):
            below[before].append(entry)
    return below


def branches(entries: Sequence[Entry], before: str) -> list[Branch]:
    """Return the branches that begin here, the last one first. A single one is the next line."""
    if len(entries) < 2:
        return [(entry, before, before) for entry in entries]
    *others, last = entries
    found = [(last, f"{before}└─ ", f"{before}   ")]
    return found + [(entry, f"{before}├─ ", f"{before}│  ") for entry in reversed(others)]


def shortened(entry: Entry) -> str:
    """Return the first words of a message."""
    text = "" if entry.message is None else message_text(entry.message)
    return visible_line(text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…")
