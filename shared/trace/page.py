"""A recording as one HTML file that needs nothing but a browser.

This is the only module of `make trace` that needs packages: Jinja for the page, Pygments for the
source. It runs in the environment of the tests: python -m shared.trace.page LANES.json PAGE.html
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .flow import FAILED, LIMIT, NO_LAST_EVENT, NO_TOOL, Flow, flow_of
from .recorder import Moment, Recording, recording_from
from .timeline import parting, timeline

WAYS_OUT = {
    NO_TOOL: "模型不再要工具：正常结束 · the model wants no tool: the normal end",
    FAILED: "模型出错 · the model failed",
    NO_LAST_EVENT: "流结束了却没有收尾事件 · the stream ended without a last event",
    LIMIT: "轮数用完 · the turns are used up",
}
# Sizes of the diagram, in its own units. The margins hold the arrows that go up and those that
# skip some boxes on their way down.
ROW, BOX, INDENT, LEFT, RIGHT, WIDTH = 38, 26, 16, 42, 42, 460


def page(lanes: dict[str, Recording]) -> str:
    """Return the page for one recording, or for several side by side, by their titles."""
    environment = Environment(
        loader=PackageLoader("shared.trace", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    recordings = list(lanes.values())
    walk = timeline(recordings)
    views = [lane_view(title, recording) for title, recording in lanes.items()]
    data = {
        "lanes": [view.pop("data") for view in views],
        "walk": walk,
        "parts": parting(recordings),
    }
    return environment.get_template("page.html.j2").render(
        step=recordings[0].step,
        sentence=recordings[0].sentence,
        lanes=views,
        data=as_script(data),
        last=len(walk),
        turns=turn_starts(recordings, walk),
        light=colours("default"),
        dark=colours("github-dark"),
    )


def turn_starts(recordings: list[Recording], walk: list[list[int]]) -> list[int]:
    """Return the steps of the walk, counted from 1, at which a turn begins in some recording."""
    found = []
    before: list[int] = []
    for number, places in enumerate(walk, 1):
        moved = [lane for lane, place in enumerate(places) if before[lane : lane + 1] != [place]]
        if any(recordings[lane].moments[places[lane]].event == "turn_start" for lane in moved):
            found.append(number)
        before = places
    return found


def lane_view(title: str, recording: Recording) -> dict[str, Any]:
    """Return what the template shows of one recording, and under `data` what the script moves."""
    flow = flow_of(recording.source)
    return {
        "title": title,
        "lines": source_lines(recording.source),
        "rows": [row(flow, number) for number in range(len(flow.boxes))],
        "edges": [arrow(flow, start, end) for start, end in flow.edges],
        "width": WIDTH,
        "box_height": BOX,
        "height": len(flow.boxes) * ROW + 4,
        "data": {
            "screen": recording.screen,
            "messages": recording.messages,
            "histories": recording.histories,
            "moments": moments_data(recording, flow),
        },
    }


def moments_data(recording: Recording, flow: Flow) -> list[dict[str, Any]]:
    """Return the moments as the script takes them: it counts the screen in units of its own."""
    found = []
    seen = units = 0
    for moment in recording.moments:
        # Python counts characters; a script counts the 16-bit units that they take.
        units += (
            len(recording.screen[seen : moment.screen].encode("utf-16-le", "surrogatepass")) // 2
        )
        seen = moment.screen
        found.append(moment_data(moment, flow) | {"screen": units})
    return found


def moment_data(moment: Moment, flow: Flow) -> dict[str, Any]:
    """Return a moment with the box that it lights, and the one through which the run leaves."""
    here = flow.box_at(moment.line)
    outs = [] if here is None else flow.outs_after(here)
    ways: dict[str, Sequence[int | None]] = {
        NO_TOOL: outs[:1],
        FAILED: outs[:1],
        NO_LAST_EVENT: outs[-1:],
        LIMIT: [here],
    }
    return asdict(moment) | {
        "box": here,
        "end": moment.line if here is None else flow.boxes[here].end,
        "line": moment.line if here is None else flow.boxes[here].line,
        "out": next(iter(ways.get(moment.way_out, [])), None),
        "way_out": WAYS_OUT.get(moment.way_out, ""),
    }


def row(flow: Flow, number: int) -> dict[str, Any]:
    """Return where a box of the flow stands in the diagram."""
    x, y = corner(flow, number)
    return {"box": flow.boxes[number], "number": number, "x": x, "y": y, "width": WIDTH - RIGHT - x}


def corner(flow: Flow, number: int) -> tuple[int, int]:
    return LEFT + flow.boxes[number].depth * INDENT, number * ROW + 4


def arrow(flow: Flow, start: int, end: int) -> dict[str, str]:
    """Return an edge as a line and its head: down, up along the left, or down along the right."""
    x, y = corner(flow, start)
    to_x, to_y = corner(flow, end)
    middle, to_middle = y + BOX // 2, to_y + BOX // 2
    if end == start + 1:
        x = max(x, to_x) + 12
        return {"path": f"M{x} {y + BOX} V{to_y - 5}", "tip": f"M{x} {to_y} l-3.5 -6 h7 z"}
    if end < start:
        left = to_x - 12
        path = f"M{x} {middle} H{left} V{to_middle} H{to_x - 5}"
        return {"path": path, "tip": f"M{to_x} {to_middle} l-6 -3.5 v7 z"}
    # The longer the way, the farther out: so ways that lie inside each other do not cross.
    side = WIDTH - RIGHT
    out = side + 8 + min(end - start, 10) * 3
    path = f"M{side} {middle} H{out} V{to_middle} H{side + 5}"
    return {"path": path, "tip": f"M{side} {to_middle} l6 -3.5 v7 z"}


def colours(style: str) -> str:
    """Return a colour scheme of Pygments as rules of a style sheet."""
    rules = HtmlFormatter(style=style).get_style_defs(".source")  # type: ignore[no-untyped-call]
    return str(rules)


def source_lines(source: str) -> list[str]:
    """Return the lines of a Python source, marked up in the colours of Pygments."""
    marked = highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return marked.rstrip("\n").split("\n")


def as_script(value: object) -> str:
    """Return data as JSON for a script element, from which no text can break out."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def main(lanes_file: str, page_file: str) -> None:
    lanes = json.loads(Path(lanes_file).read_text("utf-8"))
    text = page({title: recording_from(data) for title, data in lanes.items()})
    Path(page_file).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
