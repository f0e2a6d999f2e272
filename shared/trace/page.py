"""Recordings as one HTML file that needs nothing but a browser.

This is the only module of `make trace` that needs packages: Jinja for the page, Pygments for the
source. It runs in the environment of the tests: python -m shared.trace.page FILE.jsonl PAGE.html
"""

import difflib
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from . import recording_file
from .flow import Box, Flow, flow_of
from .recorder import shortened
from .recording import Cause, Recording
from .recording_file import as_data, changes, pieces
from .timeline import difference, folded, parting, timeline
from .verdict import due, verdicts

LONGEST_TITLE = 80  # characters; the sentence itself stands in the history
# Sizes of the diagram in pixels: a row of it, the box in it, how far a box is indented for each
# level, and the margins, where the arrows go up, and down past some boxes.
ROW, BOX, INDENT, LEFT, RIGHT = 28, 22, 14, 20, 30


def page(recordings: Sequence[Recording]) -> str:
    """Return the page for one recording, or for two side by side."""
    environment = Environment(
        loader=PackageLoader("shared.trace", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    flows = [flow_of(recording.sources) for recording in recordings]
    return environment.get_template("page.html.j2").render(
        step=recordings[0].step,
        sentence=shortened(recordings[0].first_sentence(), LONGEST_TITLE),
        lanes=list(map(lane_view, recordings, flows)),
        keeps=any(recording.lines for recording in recordings),
        data=as_script(data_of(recordings, flows)),
        light=colours("default"),
        dark=colours("github-dark"),
        row=ROW,
        box=BOX,
        right=RIGHT,
    )


def data_of(recordings: Sequence[Recording], flows: Sequence[Flow]) -> dict[str, Any]:
    """Return what the script of the page moves through."""
    data: dict[str, Any] = {
        "lanes": list(map(lane_data, recordings, flows)),
        "walk": timeline(recordings),
        "parts": parting(recordings),
    }
    if len(recordings) == 2:
        one, other = recordings
        differs = difference(one, other)
        data["message"] = differs.messages
        data["row"] = differs.lines and [
            recording.screen.count("\n", 0, start)
            for recording, (start, _) in zip(recordings, differs.lines, strict=True)
        ]
        data["changed"] = changed_lines(one, other)
    return data


def lane_data(recording: Recording, flow: Flow) -> dict[str, Any]:
    """Return a recording as the script takes it. Like the file, it holds each long text once."""
    spots, moments = places_of(recording, flow)
    return {
        "title": recording.title,
        "cause": recording.cause and cause_data(recording.cause),
        "tools": as_data(recording.tools),
        "messages": as_data(recording.messages),
        "lines": as_data(recording.lines),
        "asks": asks_of(recording),
        "spots": spots,
        "moments": moments,
        "pairs": list(pairs_of(recording)),
        "orphans": list(orphans_of(recording)),
        "due": [[*call, moment] for call, moment in due(recording).items()],
    }


def places_of(recording: Recording, flow: Flow) -> tuple[list[Any], list[Any]]:
    """Return the spots in the source, and the moments, each with its spot.

    A spot is what lights up together: first the boxes of the diagram, by number, and then each
    line of which the diagram knows nothing, as in a recording of something else than Python.
    """
    spots = [(box.file, box.line, box.end) for box in flow.boxes]
    numbers: dict[tuple[str, int], int] = {}
    left_out, moments, before = folded(recording), [], -1
    for place, (change, moment) in enumerate(
        zip(changes(recording), recording.moments, strict=True)
    ):
        spot = flow.box_at(change.file, change.line)
        if spot is None:
            spot = numbers.setdefault((change.file, change.line), len(spots))
            if spot == len(spots):
                spots.append((change.file, change.line, change.line))
        data = as_data(change) | {"spot": spot}
        if place in left_out:
            data["folded"] = True
        if moment.history != before:
            data["history"] = before = moment.history
        moments.append({key: data[key] for key in data if key not in ("file", "line", "at")})
    return [list(spot) for spot in spots], moments


def asks_of(recording: Recording) -> list[Any]:
    """Return what the model was asked on; of a key, the text of a message is stored only once."""
    found: dict[int, Any] = {}
    for moment in recording.moments:
        if moment.ask is not None and moment.ask not in found:
            ask = recording.asks[moment.ask]
            key = pieces(ask.key, recording, recording.histories[moment.history])
            found[moment.ask] = {"key": key, "rule": ask.rule}
    return [found.get(number, {"key": [], "rule": ""}) for number in range(len(recording.asks))]


def pairs_of(recording: Recording) -> Iterator[tuple[int, int, int, int | None]]:
    """Give the result of each call whenever it is another one than in the history before.

    The call is the place of its message in the history and its own in the message; then come the
    number of the history, and the place of the result in it.
    """
    before: dict[tuple[int, int], int] = {}
    for number, verdict in enumerate(verdicts(recording)):
        for call in before.keys() | verdict.results.keys():
            if before.get(call) != verdict.results.get(call):
                yield *call, number, verdict.results.get(call)
        before = verdict.results


def orphans_of(recording: Recording) -> Iterator[tuple[int, int, bool]]:
    """Give the place of each result that has no call, the history from which on, and whether."""
    before: set[int] = set()
    for number, verdict in enumerate(verdicts(recording)):
        now = set(verdict.orphans)
        for place in sorted(before ^ now):
            yield place, number, place in now
        before = now


def cause_data(cause: Cause) -> dict[str, Any]:
    """Return what was changed, as a diff, without the indentation that all of it has."""
    old, new = cause.old.strip("\n"), cause.new.strip("\n")
    lines = textwrap.dedent(f"{old}\n{new}").split("\n")
    length = old.count("\n") + 1
    marked = [line.rstrip() for line in difflib.ndiff(lines[:length], lines[length:])]
    diff = [line for line in marked if line not in ("-", "+") and not line.startswith("?")]
    return {**as_data(cause), "diff": diff}


def changed_lines(one: Recording, other: Recording) -> list[list[list[Any]]]:
    """Return the lines of the source that the other recording does not have, for each of the two.

    A line is the name of its file and its number.
    """
    found: list[list[list[Any]]] = [[], []]
    for file in one.sources.keys() & other.sources.keys():
        here, there = one.sources[file].split("\n"), other.sources[file].split("\n")
        matcher = difflib.SequenceMatcher(None, here, there, autojunk=False)
        for kind, start, end, other_start, other_end in matcher.get_opcodes():
            if kind != "equal":
                found[0] += [[file, line + 1] for line in range(start, end)]
                found[1] += [[file, line + 1] for line in range(other_start, other_end)]
    return found


def lane_view(recording: Recording, flow: Flow) -> dict[str, Any]:
    """Return what the template shows of a recording: its sources, and the diagram of its loop."""
    sources = {name: source_lines(text) for name, text in recording.sources.items()}
    return {"sources": sources, **diagram(flow)}


def diagram(flow: Flow) -> dict[str, Any]:
    """Return the diagram as rows from top to bottom, and the arrows, left and right of the boxes.

    The boxes are as wide as there is room. So the arrows at their right count from there.
    """
    rows: list[tuple[int | None, Box]] = []
    for _, boxes in groupby(enumerate(flow.boxes), lambda each: each[1].function):
        own = list(boxes)
        rows += [(None, own[0][1]), *own]  # The name of the function stands above its boxes.
    at = {number: row for row, (number, _) in enumerate(rows) if number is not None}
    left, right = [], []
    for start, end in flow.edges:
        x, to_x = (corner(flow.boxes[number]) for number in (start, end))
        y, to_y = at[start] * ROW, at[end] * ROW
        if end == start + 1:
            left.append(arrow_down(max(x, to_x) + 10, y + BOX, to_y))
        elif end <= start:
            left.append(arrow_up(x, y + BOX // 2, to_x, to_y + BOX // 2))
        else:
            # The longer the way, the farther out: so ways that lie inside each other do not cross.
            out = 6 + min(end - start, 10) * 2
            right.append(arrow_past(out, y + BOX // 2, to_y + BOX // 2))
    return {
        "rows": [{"number": number, "box": box, "x": corner(box)} for number, box in rows],
        "left": left,
        "right": right,
        "height": len(rows) * ROW,
    }


def corner(box: Box) -> int:
    return LEFT + box.depth * INDENT


def arrow_down(x: int, y: int, to_y: int) -> tuple[str, str]:
    """Return an arrow as its line and its head."""
    return f"M{x} {y} V{to_y - 3}", f"M{x} {to_y} l-3.5 -5 h7 z"


def arrow_up(x: int, y: int, to_x: int, to_y: int) -> tuple[str, str]:
    return f"M{x} {y} H{to_x - 11} V{to_y} H{to_x - 4}", f"M{to_x} {to_y} l-6 -3.5 v7 z"


def arrow_past(out: int, y: int, to_y: int) -> tuple[str, str]:
    return f"M0 {y} H{out} V{to_y} H4", f"M0 {to_y} l6 -3.5 v7 z"


def colours(style: str) -> str:
    """Return a colour scheme of Pygments as rules of a style sheet."""
    rules = HtmlFormatter(style=style).get_style_defs(".source")  # type: ignore[no-untyped-call]
    return str(rules)


def source_lines(source: str) -> list[tuple[int, int, str]]:
    """Return the number of each line, its indentation, and itself in the colours of Pygments."""
    source = source.replace("\r", "")
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    marked = highlight(source, lexer, HtmlFormatter(nowrap=True))
    # Names, punctuation and spaces have no colour: without their marks the page is half as large.
    plain = re.sub(r'<span class="(?:n|p|w)">(.*?)</span>', r"\1", marked)
    lines = zip(source.split("\n"), plain.removesuffix("\n").split("\n"), strict=False)
    return [
        (number, len(bare) - len(bare.lstrip(" ")), without_break(line))
        for number, (bare, line) in enumerate(lines, 1)
    ]


def without_break(line: str) -> str:
    """Return a line that no browser breaks behind its indentation; copied, it has blanks again."""
    return re.sub(r"^((?:<[^>]*>)*)( +)", lambda found: found[1] + "\xa0" * len(found[2]), line)


def as_script(value: object) -> str:
    """Return data as JSON for a script element, from which no text can break out."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def main(recording: str, page_file: str) -> None:
    text = page(recording_file.read(Path(recording)))
    Path(page_file).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
