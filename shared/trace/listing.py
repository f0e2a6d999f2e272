"""A recording as a listing for the terminal."""

from .recorder import Recording


def listing(recording: Recording, parts_at: int | None = None) -> list[str]:
    """Return a line for each event: its number, what it is, where the loop stands, the history.

    `parts_at` is the place of the moment at which another recording is no longer the same.
    """
    lines = []
    rule = ""
    for number, moment in enumerate(recording.moments, 1):
        if number - 1 == parts_at:
            lines.append("      here they part:")
        if moment.rule != rule and moment.rule:
            lines.append(f"      the model is asked on {moment.match_key!r}: {moment.rule}")
        rule = moment.rule
        place = f"agent_loop.py:{moment.line}"
        history = f"{len(recording.histories[moment.history]):3} messages"
        line = f"{number:4}  {moment.event:11} {place:18} {history}  {moment.detail}"
        lines.append(line.rstrip())
        if moment.way_out:
            lines += [f"      the run ends: {moment.way_out}", ""]
    return lines
