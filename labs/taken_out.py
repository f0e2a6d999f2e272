"""The tasks that take something out of a step: its demo must say what the catalogue has pinned."""

import re
from pathlib import Path

from shared.watching import step_folder, watch_demo

from .breaks import find_breaks, pinned_run
from .verdict import Verdict, differs, done, not_yet


def check_taken_out(package: str, labs: Path, name: str, *, untouched: str, seen: str) -> Verdict:
    """Compare the demo of a changed step with that of the change `name` of the catalogue."""
    run, demo, wanted = watch_demo(package), pinned_run(labs, "demo"), pinned_run(labs, name)
    if run.same_as(wanted):
        return done(seen)
    if run.same_as(demo):
        return not_yet(f"the demo still says what it came with: {untouched}")
    guess = "more was changed than the task asks; git diff shows what"
    if re.search("'checked' is not defined|has no attribute 'value'", run.transcript):
        guess = "tool.execute still asks for checked.value: give it tool_call.arguments instead"
    for change in find_breaks(step_folder(package)).values():
        if run.same_as(pinned_run(labs, change.name)):
            guess = f"this is the change {change.name!r} of the catalogue. {change.why}"
    if run.transcript != wanted.transcript:
        return differs(
            "something else changed", "transcript", wanted.transcript, run.transcript, guess=guess
        )
    return differs("something else changed", "history", wanted.history, run.history, guess=guess)
