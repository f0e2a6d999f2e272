"""`make trace`: record a run, and show it as a page or as a listing."""

import json
import tempfile
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import environment
from ..child import ChildError, call_in_child
from ..chromium import chromium
from ..errors import UsageError
from ..steps import ROOT
from .listing import listing
from .recorder import parting, recording_from

PAGES = ROOT / "traces"


def record_all(step: Path, roots: Mapping[str, Path], sentence: str) -> dict[str, Any]:
    """Record a step in each of the folders that hold it; return the recordings, by their titles.

    UsageError if the step has no loop or does not run.
    """
    if not (step / "agent_loop.py").exists():
        raise UsageError(f"{step.name} has no loop to watch; from step 04 on there is one")
    try:
        return {
            title: call_in_child(root, "shared.trace.recorder:record", step.name, sentence)
            for title, root in roots.items()
        }
    except ChildError as error:
        raise UsageError(f"{step.name} does not run: {error}") from None


def print_listing(lanes: Mapping[str, Any]) -> None:
    """Print each recording as a listing, one after the other."""
    for title, data in lanes.items():
        print(f"== {title} ==")
        print("\n".join(listing(recording_from(data))))


def take_screenshot(lanes: Mapping[str, Any], name: str, picture: Path) -> int:
    """Take a picture of the page at the moment where its two recordings part."""
    if chromium() is None:
        raise UsageError("there is no Chromium here to take a picture with")
    moment = parting([recording_from(data) for data in lanes.values()])
    status = write_page(lanes, name, show=False)
    page = str(PAGES / f"{name}.html")
    return status or environment.run_tool("shared.trace.browser", page, str(moment), str(picture))


def write_page(lanes: Mapping[str, Any], name: str, *, show: bool) -> int:
    """Write the page traces/NAME.html, print its path, and show it in a browser if asked to."""
    PAGES.mkdir(exist_ok=True)
    path = PAGES / f"{name}.html"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "lanes.json")
        file.write_text(json.dumps(lanes), encoding="utf-8")
        status = environment.run_tool("shared.trace.page", str(file), str(path))
    if status == 0:
        print(path)
        if show:
            webbrowser.open(path.as_uri())
    return status
