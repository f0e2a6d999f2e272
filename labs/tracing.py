"""`make trace`: record a run, perhaps beside one that is broken, and show it."""

import tempfile
from pathlib import Path

from shared import screen
from shared.shipped import Shipped
from shared.steps import ROOT, find_step
from shared.trace import command
from shared.trace.recorder import Recording

from .breaks import copy_broken, find_break


def trace(step: Path, sentence: str, name: str, text: bool, show: bool) -> int:
    """Record a step, beside a broken copy if a break is named; write the page or a listing."""
    lanes = recorded(step, name, sentence.strip())
    if text:
        screen.show(command.listing_text(lanes))
        return 0
    page = "-".join(filter(None, [step.name, name, sentence and "sentence"]))
    return command.write_page(lanes, page, show=show)


def screenshot() -> int:
    """Take the picture of the README: the loop beside the one that forgets its results."""
    lanes = recorded(find_step("04"), "no-append", "")
    return command.take_screenshot(lanes, "screenshot", ROOT / "docs" / "trace.png")


def recorded(step: Path, name: str, sentence: str) -> dict[str, Recording]:
    """Record a step as it stands; if a break is named, as it was shipped, intact and broken."""
    sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    if not name:
        return command.record_all(step, {"完好 · intact": ROOT}, sentence)
    change = find_break(step, name)
    with tempfile.TemporaryDirectory() as intact, tempfile.TemporaryDirectory() as broken:
        Shipped(step.name).copy_to(Path(intact))
        copy_broken(change, Path(broken))
        roots = {"完好 · intact": Path(intact), f"拆坏 · broken: {name}": Path(broken)}
        return command.record_all(step, roots, sentence)
