"""The runs of the site: every demo, and every entry of the catalogue beside the intact run."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from labs.breaks import find_breaks
from labs.tasks import steps_with_tasks
from labs.tracing import recorded
from shared.errors import UsageError
from shared.steps import find_steps
from shared.trace import command
from shared.trace.page import page

from . import one_process

DEMO = "demo"
# The pages of a step have most of their lines in common. So the lines are stored once a step, and
# each page is a list of them: all pages together take no more than a few do by themselves.
SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>
<noscript>This page replays a run, and needs JavaScript. · 这一页要用 JavaScript。</noscript>
<script>
fetch("../{step}.json").then((response) => response.json()).then(({{ lines, pages }}) => {{
  document.open();
  document.write(pages["{name}"].map((place) => lines[place]).join("\\n"));
  document.close();
}});
</script></body></html>
"""


def build_traces(folder: Path) -> set[tuple[str, str]]:
    """Write the page of each run, and for each step what its pages are made of; return which."""
    # A process for each run would take a minute.
    setattr(command, "call_in_child", one_process.call_here)  # noqa: B010
    folder.mkdir(parents=True)
    texts: dict[Path, dict[str, str]] = {}
    for step, name in runs_of_all_steps():
        with one_process.own_loop(), contextlib.suppress(UsageError):  # Not every loop turns.
            texts.setdefault(step, {})[name or DEMO] = page(recorded(step, name, ""))
    for step, pages in texts.items():
        write_step(folder, step.name, pages)
    return {(step.name, name) for step, pages in texts.items() for name in pages}


def runs_of_all_steps() -> Iterator[tuple[Path, str]]:
    """Give each step that has a loop, with no name for its demo, and with that of each break."""
    with_tasks = steps_with_tasks()
    for step in find_steps().values():
        if (step / "agent_loop.py").exists():
            yield step, ""
            yield from ((step, name) for name in (find_breaks(step) if step in with_tasks else ()))


def write_step(folder: Path, step: str, pages: dict[str, str]) -> None:
    number = step[4:6]
    places: dict[str, int] = {}
    made_of = {
        name: [places.setdefault(line, len(places)) for line in text.split("\n")]
        for name, text in pages.items()
    }
    text = json.dumps({"lines": list(places), "pages": made_of}, ensure_ascii=False)
    (folder / f"{number}.json").write_text(text, encoding="utf-8", errors="backslashreplace")
    (folder / number).mkdir()
    for name in pages:
        shell = SHELL.format(title=f"{step} · {name}", step=number, name=name)
        (folder / number / f"{name}.html").write_text(shell, encoding="utf-8")
