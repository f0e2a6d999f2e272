"""What a changed step says: its demo as `make demo` plays it, and the known sentences."""

import contextlib
import importlib
import runpy
from typing import Any

from shared.child import Screen
from shared.watching import Run, watch_chat

from .language import say
from .verdict import Verdict, differs, not_yet


def play_demo(package: str) -> str:
    """Play the demo as `python -m` does, and return what it prints.

    The first thing that a checker does: whatever is wrong there, the reader sees it too.
    """
    with contextlib.redirect_stdout(Screen()) as screen:
        runpy.run_module(f"{package}.demo", run_name="__main__")
    return screen.getvalue()


def rules_of(package: str) -> list[Any]:
    return list(importlib.import_module(f"{package}.rules").RULES)


def scenes_of(transcript: str) -> dict[str, str]:
    """Return the scenes of a transcript by their sentence, without the title and the goodbye."""
    scenes = [part for part in transcript.split("\n\n") if part.startswith("你> ")]
    by_sentence = {scene.partition("\n")[0].removeprefix("你> "): scene for scene in scenes}
    by_sentence.pop("/exit", None)
    return by_sentence


def changed_scene(package: str, known: Run) -> Verdict | None:
    """Say the sentences of a known demo, and tell which is not answered as it should be."""
    wanted = scenes_of(known.transcript)
    run = watch_chat(package, [*wanted, "/exit", "没有人听"])
    now = scenes_of(run.transcript)
    for line, scene in wanted.items():
        if now.get(line) != scene:
            where = say("the scene of 「{sentence}」", sentence=line)
            found = say("「{sentence}」 is not answered as it should be", sentence=line)
            return differs(found, where, scene, now.get(line, ""))
    chat = known.transcript.partition("\n\n")[2]
    if run.transcript != chat:
        found = say("the chat is not what it should be")
        return differs(found, say("the chat"), chat, run.transcript)
    if run.history != known.history:
        found = say("the screen is right, but what the model sees is not")
        return differs(found, say("the messages"), known.history, run.history)
    return None


def missing_in_demo(demo: str, scenes: dict[str, str]) -> Verdict | None:
    """Tell which of the scenes the demo, which printed `demo`, does not play."""
    played = scenes_of(demo)
    for line, scene in scenes.items():
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
