"""The sentences of the demo, said one by one to a step that a reader has changed."""

import importlib
from typing import Any

from shared.watching import Run, watch_chat, watch_demo

from .verdict import Verdict, differs

FALLBACK = "这句话没有命中任何规则，我只能用兜底回复了。"
# Sentences for which no rule is asked in any task.
UNKNOWN = ["今天天气怎么样", "帮我算 7+5", "买 99 个苹果"]
RULE_GUESS = (
    "a new rule catches it: is its match too short, or missing, or does it stand too early? "
    "(put back what an earlier task took out, too)"
)


def is_as_it_came(package: str, demo: Run) -> bool:
    """Return whether the demo still says what it came with, and no more."""
    return watch_demo(package).same_as(demo)


def changed_scene(package: str, demo: Run, *, guess: str) -> Verdict | None:
    """Return what is wrong with the first sentence of `demo` that is answered otherwise now.

    Sentences that nobody has a rule for count too: they belong to the fallback.
    """
    scenes = demo.transcript.split("\n\n")[1:-1]
    scenes += [f"你> {line}\n[第 1 轮]\n助手> {FALLBACK}\n[第 1 轮结束]" for line in UNKNOWN]
    for scene in scenes:
        line = scene.partition("\n")[0].removeprefix("你> ")
        now = watch_chat(package, [line]).transcript.partition("\n\n")[0]
        if now != scene:
            where = f"the scene of 「{line}」"
            return differs(f"「{line}」 is not answered as before", where, scene, now, guess=guess)
    return None


def rules_of(package: str) -> list[Any]:
    return list(importlib.import_module(f"{package}.rules").RULES)
