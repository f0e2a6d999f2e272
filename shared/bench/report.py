"""A comparison as tables: on the terminal, and in the two READMEs beside this file."""

import re
from pathlib import Path

from .plot import plot
from .record import Comparison, Row

NONE = "—"


def terminal_table(comparison: Comparison) -> str:
    titles = [f"{size:,}" for size in comparison.sizes]
    header = ["", "version", *titles, "growth", "cold start, ms", "memory, MB", "size, MB"]
    table = [header, *(turn_cells(r, comparison) + other_cells(r) for r in comparison.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.rjust, line, widths)).rstrip() for line in table]
    return "\n".join(["microseconds a turn, in conversations of so many turns:", *lines])


def turn_cells(row: Row, comparison: Comparison) -> list[str]:
    """Return its name and version, what a turn costs, and how that grows."""
    costs = [cost_cell(row, size) for size in comparison.sizes]
    growth = NONE if row.growth is None else f"{row.growth:.1f}"
    if row.growth is not None and row.ended:
        growth += f" ({max(row.microseconds):,})"
    return [row.name, row.version or NONE, *costs, growth]


def cost_cell(row: Row, size: int) -> str:
    if size in row.microseconds:
        return f"{row.microseconds[size]:,.0f}"
    first_missing = max(row.microseconds, default=0)
    return row.ended if row.ended and size > first_missing else NONE


def other_cells(row: Row) -> list[str]:
    size = f"{row.size_mb:.{1 if row.size_mb >= 1 else 2}f}" if row.size_mb else NONE
    return [f"{row.cold_ms:,.0f}", f"{row.peak_mb:,.0f}", size]


def write_report(comparison: Comparison, folder: Path) -> None:
    """Put the figures into the READMEs of a folder, and draw the plot beside them."""
    for page in sorted(folder.glob("README*.md")):
        text = page.read_text("utf-8")
        for name, rows in tables(comparison).items():
            text = with_rows(text, name, rows)
        page.write_text(text, encoding="utf-8", newline="\n")
    (folder / "turns.svg").write_text(plot(comparison), encoding="utf-8", newline="\n")


def tables(comparison: Comparison) -> dict[str, list[list[str]]]:
    """Return the rows of each table, by the name that marks its place in a README."""
    return {
        "machine": [list(comparison.machine.values())],
        "turns": [turn_cells(row, comparison) for row in comparison.rows],
        "others": [[row.name, *other_cells(row)] for row in comparison.rows],
    }


def with_rows(text: str, name: str, rows: list[list[str]]) -> str:
    """Return a page with other rows in the table behind `<!-- measured: name -->`."""
    lines = "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
    # The mark, the titles and the line below them stay as they are.
    place = rf"(<!-- measured: {name} -->\n\|.*\n\|[-|: ]+\n)(?:\|.*\n)*"
    return re.sub(place, lambda found: found[1] + lines, text)
