"""The picture of a comparison: what a turn costs in longer and longer conversations, as SVG.

Both axes are logarithmic, so a cost that stays the same is a flat line. Each line has its name at
its end: no colour has to be told from another. The colours are legible in light and in dark.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from .record import Comparison, Row

Scale = Callable[[float], float]

WIDTH, HEIGHT = 860, 560
LEFT, RIGHT, TOP, BOTTOM = 84, 590, 24, 500
NAME_HEIGHT = 17
BACKGROUNDS = {"light": "#ffffff", "dark": "#0d1117"}
COLOURS = {
    "step": ("#2f6fdb",),
    "minimal": ("#77808a",),
    "peer": ("#c2410c", "#a16207", "#4d7c0f", "#0f766e", "#9333ea", "#be185d", "#8d6e63"),
}
STYLE = """
svg { font: 13px system-ui, sans-serif } .paper { fill: %(light)s }
text { fill: #1f2328 } .grid { stroke: #d0d7de } polyline { fill: none; stroke-width: 2 }
.step { stroke-width: 3 } .minimal { stroke-dasharray: 6 4 }
.leader { stroke-width: 1; stroke-dasharray: 1 3 }
@media (prefers-color-scheme: dark) {
  .paper { fill: %(dark)s } text { fill: #e6edf3 } .grid { stroke: #30363d }
}
"""


def plot(comparison: Comparison) -> str:
    rows = [row for row in comparison.rows if row.microseconds]
    costs = [cost for row in rows for cost in row.microseconds.values()]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    first, last = comparison.sizes[0], comparison.sizes[-1]

    def x(turns: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(turns / first) / math.log(last / first)

    def y(cost: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (math.log10(cost) - low) / (high - low)

    paper = f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>'
    parts = [paper, *grid(comparison.sizes, range(low, high + 1), x, y)]
    parts += lines(rows, x, y)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        "<title>Microseconds a turn, in conversations of more and more turns</title>\n"
        f"<style>{STYLE % BACKGROUNDS}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def grid(sizes: Sequence[int], powers: range, x: Scale, y: Scale) -> Iterator[str]:
    """Draw the two axes with their titles, and a line for each number on them."""
    for turns in sizes:
        at = f"{x(turns):.1f}"
        yield f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP}" y2="{BOTTOM}"/>'
        yield f'<text x="{at}" y="{BOTTOM + 20}" text-anchor="middle">{turns:,}</text>'
    for power in powers:
        at = f"{y(10**power):.1f}"
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{at}" y2="{at}"/>'
        yield f'<text x="{LEFT - 8}" y="{at}" dy="4" text-anchor="end">{10**power:,}</text>'
    middle = (TOP + BOTTOM) / 2
    yield f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 44}" text-anchor="middle">turns</text>'
    turned = f"translate(16 {middle}) rotate(-90)"
    yield f'<text transform="{turned}" text-anchor="middle">µs / turn</text>'


def lines(rows: Sequence[Row], x: Scale, y: Scale) -> Iterator[str]:
    """Draw the line of each row, and beside the plot its name, so that no two names touch."""
    ends = {row.name: max(row.microseconds.items()) for row in rows}
    places = apart([y(ends[row.name][1]) for row in rows])
    seen = dict.fromkeys(COLOURS, 0)
    for row, place in zip(rows, places, strict=True):
        colour = COLOURS[row.kind][seen[row.kind] % len(COLOURS[row.kind])]
        seen[row.kind] += 1
        points = " ".join(f"{x(n):.1f},{y(c):.1f}" for n, c in sorted(row.microseconds.items()))
        turns, cost = ends[row.name]
        leader = f"{x(turns):.1f},{y(cost):.1f} {RIGHT + 10},{place:.1f} {RIGHT + 22},{place:.1f}"
        yield f'<polyline class="{row.kind}" stroke="{colour}" points="{points}"/>'
        yield f'<polyline class="leader" stroke="{colour}" points="{leader}"/>'
        for turns, cost in row.microseconds.items():
            yield f'<circle cx="{x(turns):.1f}" cy="{y(cost):.1f}" r="3.5" fill="{colour}"/>'
        name = escape(f"{row.name} ({row.ended})" if row.ended else row.name)
        yield f'<text x="{RIGHT + 27}" y="{place:.1f}" dy="4">{name}</text>'


def apart(wanted: Sequence[float]) -> list[float]:
    """Return heights near those that are wanted, in the same order, with room for a name each."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    # Those that would touch stand around the middle of what they want, as one group.
    groups: list[list[int]] = []
    for place in order:
        groups.append([place])
        while len(groups) > 1 and top(groups[-1], wanted) < bottom(groups[-2], wanted):
            last = groups.pop()
            groups[-1] += last
    found = list(wanted)
    for group in groups:
        for number, place in enumerate(group):
            found[place] = top(group, wanted) + (number + 0.5) * NAME_HEIGHT
    return found


def top(group: Sequence[int], wanted: Sequence[float]) -> float:
    middle = sum(wanted[place] for place in group) / len(group)
    highest = middle - len(group) * NAME_HEIGHT / 2
    return min(max(highest, TOP), BOTTOM - len(group) * NAME_HEIGHT)


def bottom(group: Sequence[int], wanted: Sequence[float]) -> float:
    return top(group, wanted) + len(group) * NAME_HEIGHT
