"""`make trace` and `make chat RECORD=1`: record a run, perhaps beside a broken one, and show it."""

import hashlib
import os
import tempfile
import time
from pathlib import Path

from shared import screen
from shared.shipped import Shipped
from shared.steps import ROOT, find_step
from shared.trace import command, recorder, recording_file
from shared.trace.recording import MOST_MOMENTS, Cause, Head, Question, Recording

from .breaks import DEMO, Break, Text, copy_broken, find_break
from .language import say
from .stage import watch_scene


def trace(
    number: str,
    sentence: str,
    name: str,
    file: str,
    text: bool,
    json: bool,
    cast: bool,
    otlp: bool,
    show: bool,
) -> int:
    """Record a step, or read a recording; write the page, a listing, or files for other programs.

    With `name` the step runs beside a copy with that break.
    """
    if file:
        recordings, page = recording_file.read(Path(file)), f"file-{short_hash(file)}"
    else:
        recordings = recorded(find_step(number), name, sentence.strip())
        said = short_hash(sentence) if sentence else ""
        page = "-".join(filter(None, [recordings[0].step, name, said]))
    if text:
        screen.show(command.listing_text(recordings))
        return 0
    files = [command.write_recordings(recordings, page)] if json else []
    files += command.write_casts(recordings, page) if cast else []
    files += [command.write_spans(recordings, page)] if otlp else []
    if not files:
        return command.write_page(recordings, page, show=show)
    print("\n".join(map(str, files)))
    return 0


def short_hash(text: str) -> str:
    """Return what tells the page of one sentence, or of one file, from that of another."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def chat(step: Path) -> int:
    """Let the reader talk to a step, and keep what happened as a recording."""
    command.refuse_without_loop(step)
    recording = recorder.record_chat(step.name)
    if not recording.moments:
        print(say("Nothing was said, so there is no recording."))
        return 0
    # A name for each conversation: also where two of them end in the same second.
    now = time.strftime("%Y%m%d-%H%M%S")
    file = command.write_recordings([recording], f"{step.name}-chat-{now}-{os.getpid()}")
    shown = file.relative_to(ROOT)
    print(say("Recorded. To watch it: {command}", command=f"make trace FILE={shown}"))
    if len(recording.moments) == MOST_MOMENTS:
        print(say("It was long: only its first {number} statements are kept.", number=MOST_MOMENTS))
    return 0


def screenshot() -> int:
    """Take the picture of the README: the loop beside the one that forgets its results."""
    recordings = recorded(find_step("04"), "no-append", "")
    return command.take_screenshot(recordings, "screenshot", ROOT / "docs" / "trace.png")


def recorded(step: Path, name: str, sentence: str) -> list[Recording]:
    """Record a step as it stands; if a break is named, as it was shipped, intact and broken."""
    sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    if not name:
        return command.record_all(step, {"": ROOT}, sentence)
    change = find_break(step, name)
    with tempfile.TemporaryDirectory() as intact, tempfile.TemporaryDirectory() as broken:
        Shipped(step.name).copy_to(Path(intact))
        copy_broken(change, Path(broken))
        roots = {"": Path(intact), name: Path(broken)}
        if sentence or change.scene == DEMO:
            both = command.record_all(step, roots, sentence)
        else:
            both = [record_scene(step, title, root, change) for title, root in roots.items()]
    both[1].cause = cause_of(change)
    return both


def record_scene(step: Path, title: str, root: Path, change: Break) -> Recording:
    """Record the scene of a break in a copy of the step."""
    work = root / "work"
    work.mkdir()
    function = "labs.tracing:record_scene_to_file"
    return command.record_one(step, title, root, function, change.scene, str(work))


def record_scene_to_file(package: str, scene: str, folder: str, file: str) -> Head:
    """Record a scene; this runs in a child process, as the scene does."""
    recording = recorder.recorded(package, "scene", lambda: watch_scene(package, scene, folder))
    if recording.moments:
        recording_file.write([recording], Path(file))
    return Head(package)


def cause_of(change: Break) -> Cause:
    """Return what a break changes, as it goes into a recording."""
    setting = change.setting or Text("", "")
    return Cause(
        name=change.name,
        title=change.title.en,
        title_zh=change.title.zh,
        why=change.why.en,
        why_zh=change.why.zh,
        file=change.file,
        old=change.old,
        new=change.new,
        setting=setting.en,
        setting_zh=setting.zh,
        questions=[
            Question(q.ask.en, q.ask.zh, q.answer.en, q.answer.zh, q.also) for q in change.questions
        ],
    )
