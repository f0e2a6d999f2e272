"""A recording as a listing for the terminal."""

import re

from ..language import say
from ..screen import visible
from .flow import (
    FAILED,
    INTERRUPTED,
    LIMIT,
    NO_LAST_EVENT,
    NO_TOOL,
    OUTSIDE,
    RAISED,
    STOPPED,
    flow_of,
)
from .recorder import shortened
from .recording import Line, Moment, Recording
from .recording_file import changes
from .timeline import folded

LONGEST_LINE = 60  # characters of what stands in a line of a session file


def listing(recording: Recording, parts_at: int | None = None) -> list[str]:
    """Return a line for each statement: its number, its line, the history, what it did.

    Behind it stands what is in the session file since then. The pieces of a text count as one.
    `parts_at` is the place of the moment at which another recording is no longer the same.
    """
    flow, left_out = flow_of(recording.sources), folded(recording)
    lines, ask = [], None
    for place, (change, moment) in enumerate(
        zip(changes(recording), recording.moments, strict=True)
    ):
        if place == parts_at:
            lines.append(f"      {say('here they part:')}")
        if moment.ask is not None and moment.ask != ask:
            asked = recording.asks[moment.ask]
            text = say(
                "the model is asked on {key!r}: {rule}",
                key=asked.key,
                rule=rule_in_words(asked.rule),
            )
            lines.append(visible(f"      {text}"))
        ask = moment.ask
        if place in left_out and place != parts_at and not change.written:
            continue
        number = flow.box_at(moment.file, moment.line)
        text = "" if number is None else "  " * flow.boxes[number].depth + flow.boxes[number].text
        history = len(recording.histories[moment.history])
        line = f"{place + 1:5} {where(moment):18} {history:3}  {text:50}  {outcome(moment)}"
        lines.append(visible(line.rstrip()).replace("\n", " "))
        for written in change.written:
            text = say("on disk now: {line}", line=line_in_words(recording.lines[written]))
            lines.append(visible(f"      {text}"))
        if moment.ending:
            text = say("the run ends: {ending}", ending=in_words(moment.ending))
            lines += [visible(f"      {text}"), ""]
    return lines


def where(moment: Moment) -> str:
    return f"{moment.file}:{moment.line}"


def outcome(moment: Moment) -> str:
    """Return what came of a statement: the value that decided it, or the event that people see."""
    return " ".join(filter(None, [moment.value, moment.event, moment.detail]))


def line_in_words(line: Line) -> str:
    """Return a line of a session file: its id, behind which one it comes, and what it says."""
    words = [line.id, line.parent and f"← {line.parent}", line.kind, line.text]
    return shortened(" ".join(filter(None, words)), LONGEST_LINE)


def in_words(ending: str) -> str:
    """Return why a run ended, in the reader's language; a recording may know other reasons."""
    words = {
        NO_TOOL: say("no tool wanted"),
        FAILED: say("the model failed"),
        NO_LAST_EVENT: say("no last event"),
        LIMIT: say("turns used up"),
        STOPPED: say("stopped after its tools"),
        INTERRUPTED: say("interrupted"),
        RAISED: say("an exception left the loop"),
        OUTSIDE: say("an exception outside the loop"),
    }
    return words.get(ending, ending)


def rule_in_words(rule: str) -> str:
    """Return the name of a rule in the reader's language; a recording may know other names."""
    if rule == "no rule":
        return say("no rule")
    found = re.fullmatch(r"rule (\d+) \((.*)\)", rule, re.DOTALL)
    if found is None:
        return rule
    if found[2] == "the fallback":
        return say("rule {number} (the fallback)", number=found[1])
    return say("rule {number} ({match})", number=found[1], match=found[2])
