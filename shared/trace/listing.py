"""A recording as a listing for the terminal."""

from ..screen import visible
from .flow import flow_of
from .recording import Moment, Recording
from .timeline import folded


def listing(recording: Recording, parts_at: int | None = None) -> list[str]:
    """Return a line for each statement: its number, its line, the history, what it did.

    The pieces of a text count as one. `parts_at` is the place of the moment at which another
    recording is no longer the same.
    """
    flow, left_out = flow_of(recording.sources), folded(recording)
    lines, ask = [], None
    for place, moment in enumerate(recording.moments):
        if place == parts_at:
            lines.append("      here they part:")
        if moment.ask is not None and moment.ask != ask:
            asked = recording.asks[moment.ask]
            lines.append(visible(f"      the model is asked on {asked.key!r}: {asked.rule}"))
        ask = moment.ask
        if place in left_out and place != parts_at:
            continue
        number = flow.box_at(moment.file, moment.line)
        text = "" if number is None else "  " * flow.boxes[number].depth + flow.boxes[number].text
        history = len(recording.histories[moment.history])
        line = f"{place + 1:5} {where(moment):18} {history:3}  {text:50}  {outcome(moment)}"
        lines.append(visible(line.rstrip()).replace("\n", " "))
        if moment.ending:
            lines += [f"      the run ends: {moment.ending}", ""]
    return lines


def where(moment: Moment) -> str:
    return f"{moment.file}:{moment.line}"


def outcome(moment: Moment) -> str:
    """Return what came of a statement: the value that decided it, or the event that people see."""
    return " ".join(filter(None, [moment.value, moment.event, moment.detail]))
