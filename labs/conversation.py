"""What a changed step says: its demo as `make demo` plays it, and the known sentences."""

import contextlib
import importlib
import runpy
import sys
from typing import Any

from shared.child import Screen
from shared.watching import Run, watch_chat

from .language import say
from .verdict import Verdict, differs, not_yet


def play_demo(package: str) -> str:
    """Play the demo as `python -m` does, and return what it prints.

    The first thing that a checker does: whatever is wrong there, the reader sees it too.
    """
    said, sys.argv = sys.argv, sys.argv[:1]  # What was said to this process is not for the demo.
    try:
        with contextlib.redirect_stdout(Screen()) as screen:
            runpy.run_module(f"{package}.demo", run_name="__main__")
    finally:
        sys.argv = said
    return screen.getvalue()


def rules_of(package: str) -> list[Any]:
    return list(importlib.import_module(f"{package}.rules").RULES)


def scenes_of(transcript: str) -> dict[str, str]:
    """Return what is answered to each sentence of a transcript, without the goodbye."""
    parts = [part for part in transcript.split("\n\n") if part.startswith("你> ")]
    said = [part.removeprefix("你> ").partition("\n") for part in parts]
    return {line.strip(): answer for line, _, answer in said if line != "/exit"}


def changed_scene(package: str, known: Run) -> Verdict | None:
    """Say the sentences of a known demo, and tell which is not answered as it should be."""
    wanted = scenes_of(known.transcript)
    run = watch_chat(package, [*wanted, "/exit", "没有人听"])
    now = scenes_of(run.transcript)
    for line, scene in wanted.items():
        if now.get(line) != scene:
            where = say("the scene of 「{sentence}」", sentence=line)
            found = say("「{sentence}」 is not answered as it should be", sentence=line)
            seen = now.get(line, "")
            more = len(seen.splitlines()) > len(scene.splitlines())
            guess = say("was a print left in the code?") if more else ""
            return differs(found, where, scene, seen, guess=guess)
    chat = known.transcript.partition("\n\n")[2]
    if run.transcript != chat:
        found = say("the chat is not what it should be")
        return differs(found, say("the chat"), chat, run.transcript)
    if run.history != known.history:
        found = say("the screen is right, but what the model sees is not")
        return differs(found, say("the messages"), known.history, run.history)
    return None


def missing_in_demo(package: str, transcript: str) -> Verdict | None:
    """Tell which scene of a transcript the demo of the step does not play."""
    played = scenes_of(play_demo(package))
    for line, scene in scenes_of(transcript).items():
        if line not in played:
            said = "、".join(f"「{sentence}」" for sentence in played) or say("(nothing)")
            return not_yet(
                say("the demo does not say 「{sentence}」", sentence=line),
                guess=say("before /exit, SCRIPT in demo.py says: {sentences}", sentences=said),
            )
        if played[line] != scene:
            where = say("「{sentence}」 in the demo", sentence=line)
            found = say("the demo answers 「{sentence}」 otherwise than the chat", sentence=line)
            return differs(found, where, scene, played[line])
    return None
