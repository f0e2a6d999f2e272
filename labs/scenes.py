"""The sentences of the demo, said one by one to a step that a reader has changed."""

import importlib
from typing import Any

from shared.watching import Run, watch_chat, watch_demo

from .verdict import Verdict, differs

FALLBACK = "这句话没有命中任何规则，我只能用兜底回复了。"


def is_as_it_came(package: str, demo: Run) -> bool:
    """Return whether the demo still says what it came with, and no more."""
    run = watch_demo(package)
    return (run.transcript, run.history) == (demo.transcript, demo.history)


def changed_scene(package: str, demo: Run) -> Verdict | None:
    """Return what is wrong with the first sentence of `demo` that is answered otherwise now."""
    for scene in demo.transcript.split("\n\n")[1:-1]:
        line = scene.partition("\n")[0].removeprefix("你> ")
        now = watch_chat(package, [line]).transcript.partition("\n\n")[0]
        if now != scene:
            return differs(
                f"「{line}」 is not answered as before",
                f"the scene of 「{line}」",
                scene,
                now,
                guess="a new rule catches it: is its match too short, or does it stand too early? "
                "(put back what an earlier task took out, too)",
            )
    return None


def rules_of(package: str) -> list[Any]:
    return list(importlib.import_module(f"{package}.rules").RULES)
