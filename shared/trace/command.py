"""`make trace`: record a run, and show it: as a page, a listing, a file for other programs."""

import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import environment
from ..child import ChildError, call_in_child
from ..chromium import chromium
from ..errors import UsageError
from ..language import say
from ..screen import visible
from ..steps import ROOT
from . import recording_file
from .asciicast import asciicast
from .listing import listing
from .recording import Recording
from .spans import otlp
from .timeline import parting, timeline

TRACES = ROOT / "traces"
RECORDER = "shared.trace.recorder:record_to_file"


def record_all(step: Path, roots: Mapping[str, Path], sentence: str) -> list[Recording]:
    """Record a step in each of the folders that hold it; `roots` are these, by title.

    UsageError if the step has no loop, does not run, or has nothing to say.
    """
    refuse_without_loop(step)
    return [
        record_one(step, title, root, RECORDER, sentence, str(Path.cwd()))
        for title, root in roots.items()
    ]


def refuse_without_loop(step: Path) -> None:
    if not (step / "agent_loop.py").exists():
        raise UsageError(
            say("{step} has no agent_loop.py, and so no loop to watch", step=step.name)
        )


def record_one(step: Path, title: str, root: Path, function: str, *arguments: str) -> Recording:
    """Call a function in `root` that records the step; it gets `arguments`, and last a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "recording.jsonl")
        try:
            call_in_child(root, function, step.name, *arguments, str(file))
        except ChildError as error:
            raise UsageError(
                say(
                    "{step} does not run: {error}",
                    step=f"{step.name} {title}".rstrip(),
                    error=error,
                )
            ) from None
        if not file.exists():
            raise UsageError(
                say("the loop did not turn; say something to answer: INPUT={hello}", hello="你好")
            )
        (recording,) = recording_file.read(file)
    recording.title = title
    return recording


def listing_text(recordings: Sequence[Recording]) -> str:
    """Return each recording as a listing, one after the other, and where they part."""
    number = parting(recordings)
    lines = []
    for lane, recording in enumerate(recordings):
        place = None if number is None else timeline(recordings)[number - 1][lane]
        heading = visible(f"== {recording.step} {recording.title}".rstrip()).replace("\n", " ")
        lines += [heading, *listing(recording, place)]
    if len(recordings) > 1 and number is None:
        lines.append(say("They do not part: this run does not show the difference."))
    return "".join(f"{line}\n" for line in lines)


def write_page(recordings: Sequence[Recording], name: str, *, show: bool) -> int:
    """Write the page traces/NAME.html, print its path, and show it in a browser if asked to."""
    path = TRACES / f"{name}.html"
    new = beside(path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "recording.jsonl")
        recording_file.write(recordings, file)
        status = environment.run_tool("shared.trace.page", str(file), str(new))
    if status == 0:
        new.replace(path)
        print(path)
        if show and not webbrowser.open(path.as_uri()):
            print(say("there is no browser here; the page can be opened from the disk"))
    return status


def write_recordings(recordings: Sequence[Recording], name: str) -> Path:
    """Write the recordings themselves, to be shown again, here or elsewhere; return the file."""
    return save(f"{name}.jsonl", recording_file.text_of(recordings))


def write_casts(recordings: Sequence[Recording], name: str) -> list[Path]:
    """Write each recording as an asciicast; return the files."""
    files = []
    for number, recording in enumerate(recordings, 1):
        film = name if len(recordings) == 1 else f"{name}-{number}"
        lines = asciicast(recording)
        files.append(save(f"{film}.cast", "".join(f"{line}\n" for line in lines)))
    return files


def write_spans(recordings: Sequence[Recording], name: str) -> Path:
    """Write the recordings as OpenTelemetry spans; return the file."""
    return save(f"{name}.otlp.json", f"{otlp(recordings)}\n")


def save(name: str, text: str) -> Path:
    """Write a file in traces/, and return its path."""
    path = TRACES / name
    new = beside(path)
    new.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return new.replace(path)


def beside(path: Path) -> Path:
    """Make an empty file beside another: whoever interrupts the making of it finds the old one.

    UsageError if nothing can be written there, before anything is installed for it.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        new.touch()
    except OSError as error:
        raise UsageError(
            say(
                "{path} cannot be written: {reason}; TEXT=1 shows a listing and writes nothing",
                path=path,
                reason=error.strerror,
            )
        ) from None
    return new


def take_screenshot(recordings: Sequence[Recording], name: str, picture: Path) -> int:
    """Take a picture of the page at the moment where its recordings part."""
    if chromium() is None:
        raise UsageError(say("there is no Chromium here to take a picture with"))
    moment = parting(recordings)
    status = write_page(recordings, name, show=False)
    page = str(TRACES / f"{name}.html")
    return status or environment.run_tool("shared.trace.browser", page, str(moment), str(picture))
