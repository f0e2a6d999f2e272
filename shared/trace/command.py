"""`make trace`: record a run, and show it as a page or as a listing."""

import json
import shutil
import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from .. import environment
from ..child import ChildError, call_in_child
from ..chromium import chromium
from ..errors import UsageError
from ..language import say
from ..screen import visible
from ..steps import ROOT
from .listing import listing
from .recorder import Recording, recording_from
from .timeline import parting, timeline

PAGES = ROOT / "traces"


def record_all(step: Path, roots: Mapping[str, Path], sentence: str) -> dict[str, Recording]:
    """Record a step in each of the folders that hold it; return the recordings, by their titles.

    UsageError if the step has no loop, does not run, or has nothing to say.
    """
    if not (step / "agent_loop.py").exists():
        raise UsageError(
            say("{step} has no agent_loop.py, and so no loop to watch", step=step.name)
        )
    lanes = {}
    for title, root in roots.items():
        arguments = (step.name, sentence, str(Path.cwd()))
        try:
            data = call_in_child(root, "shared.trace.recorder:record", *arguments)
        except ChildError as error:
            raise UsageError(
                say(
                    "{step}, {title}, does not run: {error}",
                    step=step.name,
                    title=title,
                    error=error,
                )
            ) from None
        lanes[title] = recording_from(data)
        if not lanes[title].moments:
            raise UsageError(
                say(
                    "the loop did not turn for {sentence!r}: say something to answer",
                    sentence=sentence,
                )
            )
    return lanes


def listing_text(lanes: Mapping[str, Recording]) -> str:
    """Return each recording as a listing, one after the other, and where they part."""
    number = parting(list(lanes.values()))
    lines = []
    for lane, (title, recording) in enumerate(lanes.items()):
        place = None if number is None else timeline(list(lanes.values()))[number - 1][lane]
        lines += [f"== {recording.step}, {title} ==", *listing(recording, place)]
    if len(lanes) > 1 and number is None:
        lines.append(say("They do not part: this run does not show the difference."))
    return "".join(f"{visible(line)}\n" for line in lines)


def take_screenshot(lanes: Mapping[str, Recording], name: str, picture: Path) -> int:
    """Take a picture of the page at the moment where its recordings part."""
    if chromium() is None:
        raise UsageError(say("there is no Chromium here to take a picture with"))
    moment = parting(list(lanes.values()))
    status = write_page(lanes, name, show=False)
    page = str(PAGES / f"{name}.html")
    return status or environment.run_tool("shared.trace.browser", page, str(moment), str(picture))


def write_page(lanes: Mapping[str, Recording], name: str, *, show: bool) -> int:
    """Write the page traces/NAME.html, print its path, and show it in a browser if asked to."""
    path = PAGES / f"{name}.html"
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder, "lanes.json"), Path(folder, path.name)
        file.write_text(json.dumps(lanes, default=asdict), encoding="utf-8")
        status = environment.run_tool("shared.trace.page", str(file), str(page))
        if status:
            return status
        put_in_place(page, path)
    print(path)
    if show and not webbrowser.open(path.as_uri()):
        print(say("there is no browser here; the page can be opened from the disk"))
    return 0


def put_in_place(page: Path, path: Path) -> None:
    """Move a page to where it is to stand; UsageError if it may not stand there."""
    new = path.with_suffix(".new")
    try:
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(page, new)
        new.replace(path)  # Whoever interrupts this finds the page that was there before.
    except OSError as error:
        raise UsageError(
            say(
                "{path} cannot be written: {reason}; TEXT=1 shows a listing and writes nothing",
                path=path,
                reason=error.strerror,
            )
        ) from None
