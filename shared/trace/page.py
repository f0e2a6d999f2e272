"""A recording as one HTML file that needs nothing but a browser.

This is the only module of `make trace` that needs packages: Jinja for the page, Pygments for the
source. It runs in the environment of the tests: python -m shared.trace.page LANES.json PAGE.html
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .flow import FAILED, LIMIT, NO_LAST_EVENT, NO_TOOL, Box, boxes
from .recorder import Moment, Recording, parting, recording_from

WAYS_OUT = {
    NO_TOOL: "模型不再要工具：正常结束 · the model wants no tool: the normal end",
    FAILED: "模型出错 · the model failed",
    NO_LAST_EVENT: "流结束了却没有收尾事件 · the stream ended without a last event",
    LIMIT: "轮数用完 · the turns are used up",
}
# Sizes of the diagram, in its own units.
ROW, BOX, INDENT, MARGIN, WIDTH = 38, 26, 18, 26, 420


def page(lanes: dict[str, Recording]) -> str:
    """Return the page for one recording, or for several side by side, by their titles."""
    environment = Environment(
        loader=PackageLoader("shared.trace", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("page.html.j2")
    views = [lane_view(title, recording) for title, recording in lanes.items()]
    data = [view.pop("data") for view in views]
    first = next(iter(lanes.values()))
    return template.render(
        step=first.step,
        lanes=views,
        data=as_script({"lanes": data, "parts": parting(list(lanes.values()))}),
        last=max(len(recording.moments) for recording in lanes.values()),
        light=colours("default"),
        dark=colours("github-dark"),
    )


def lane_view(title: str, recording: Recording) -> dict[str, Any]:
    """Return what the template shows of one recording, and under `data` what the script moves."""
    flow = boxes(recording.source)
    return {
        "title": title,
        "lines": source_lines(recording.source),
        "rows": [row(number, each) for number, each in enumerate(flow)],
        "edges": edges(flow),
        "width": WIDTH,
        "height": len(flow) * ROW + 4,
        "data": {
            "screen": recording.screen,
            "messages": recording.messages,
            "moments": moments_data(recording, flow),
        },
    }


def moments_data(recording: Recording, flow: list[Box]) -> list[dict[str, Any]]:
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


def moment_data(moment: Moment, flow: list[Box]) -> dict[str, Any]:
    """Return a moment with the box that it lights, and the one through which the run leaves."""
    data = asdict(moment)
    here = next(n for n, each in enumerate(flow) if each.line <= moment.line <= each.end)
    outs = [n for n, each in enumerate(flow) if each.kind == "out" and n > here]
    ways = {NO_TOOL: outs[:1], FAILED: outs[:1], NO_LAST_EVENT: outs[1:2], LIMIT: [here]}
    data["box"] = here
    data["line"], data["end"] = flow[here].line, flow[here].end
    data["out"] = next(iter(ways.get(moment.way_out, [])), None)
    data["way_out"] = WAYS_OUT.get(moment.way_out, "")
    return data


def row(number: int, each: Box) -> dict[str, Any]:
    """Return where a box of the flow stands in the diagram."""
    x, y = corner(number, each)
    return {"box": each, "number": number, "x": x, "y": y, "width": WIDTH - 4 - x}


def corner(number: int, each: Box) -> tuple[int, int]:
    return MARGIN + each.depth * INDENT, number * ROW + 4


def edges(flow: list[Box]) -> list[dict[str, str]]:
    """Return the arrows of the diagram: down from box to box, and back up to the head of a loop."""
    found = []
    for number, each in enumerate(flow):
        x, y = corner(number, each)
        if number + 1 < len(flow):
            path = f"M{x + 12} {y + BOX} V{y + ROW - 5}"
            found.append({"path": path, "tip": f"M{x + 12} {y + ROW} l-3.5 -6 h7 z"})
        if each.kind == "loop":
            end = last_inside(flow, number)
            left, below = x - 12, corner(end, flow[end])[1] + BOX // 2
            path = f"M{corner(end, flow[end])[0]} {below} H{left} V{y + BOX // 2} H{x - 5}"
            found.append({"path": path, "tip": f"M{x} {y + BOX // 2} l-6 -3.5 v7 z"})
    return found


def last_inside(flow: list[Box], head: int) -> int:
    """Return the place of the last box that belongs to the loop at `head`."""
    end = head
    while end + 1 < len(flow) and flow[end + 1].depth > flow[head].depth:
        end += 1
    return end


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
    recordings = {title: recording_from(data) for title, data in lanes.items()}
    Path(page_file).write_text(page(recordings), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
