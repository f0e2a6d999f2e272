"""A recording as a listing for the terminal."""

from .recorder import Recording


def listing(recording: Recording) -> list[str]:
    """Return a line for each event: its number, what it is, where the loop stands, the history."""
    lines = [f"{recording.step}/agent_loop.py", ""]
    last = (0, 0)
    for number, moment in enumerate(recording.moments, 1):
        if (moment.run, moment.turn) != last and moment.match_key and moment.event == "start":
            lines.append(f"      the model is asked on {moment.match_key!r}: rule {moment.rule}")
            last = (moment.run, moment.turn)
        place = f"agent_loop.py:{moment.line}"
        history = f"{moment.messages:3} messages"
        line = f"{number:4}  {moment.event:11} {place:18} {history}  {moment.detail}"
        lines.append(line.rstrip())
        if moment.way_out:
            lines += [f"      the run ends: {moment.way_out}", ""]
    return lines
