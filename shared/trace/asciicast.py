"""A recording as an asciicast (version 2), which asciinema and its players show as a terminal.

The times are made from the moments, so that the same run always gives the same film: before a
sentence of the user a second goes by, between two pieces of a text what passes in the chat, before
any other event a third of a second, and a statement that is no event takes no time.
"""

import json
from collections.abc import Iterator

from ..screen import visible
from .recording import Moment, Recording

COLUMNS, ROWS = 80, 24
BEFORE_SENTENCE, BEFORE_DELTA, BEFORE_EVENT = 1.0, 0.03, 0.3  # seconds


def asciicast(recording: Recording) -> Iterator[str]:
    """Give the lines of the file; a marker stands where a turn begins."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": recording.step}
    if recording.started:
        head["timestamp"] = recording.started
    yield as_line(head)
    time, printed, run = 0.0, 0, 0
    for moment in recording.moments:
        time = round(time + pause(moment, run), 3)
        if moment.event == "turn_start":
            yield as_line([time, "m", f"{moment.run}.{moment.turn}"])
        text = recording.screen[printed : moment.screen]
        if text:
            # A terminal needs the carriage return. What would act on it is shown as an escape.
            yield as_line([time, "o", visible(text).replace("\n", "\r\n")])
        printed, run = moment.screen, moment.run


def pause(moment: Moment, run: int) -> float:
    if moment.run != run:
        return BEFORE_SENTENCE
    if moment.event == "text_delta":
        return BEFORE_DELTA
    return BEFORE_EVENT if moment.event else 0.0


def as_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
