"""The stage for the scenes of labs/stepNN/scenes.py: what the demo of a step does not show.

A scene is a function. It is given the module `main` of its step, puts a model, tools or rules of
its own into it, writes files into the current folder if it needs any, and returns what the user
says. So the conversation, the loop and the screen are those of the step. All of this happens in a
child process, which ends with the scene.
"""

import importlib
import os
import traceback
from collections.abc import Iterable
from typing import Any

from shared.watching import Run, watch


def watch_scene(package: str, scene: str, folder: str) -> Run:
    """Play a scene of a step in `folder`, which is empty; there the tools work."""
    os.chdir(folder)
    lines = set_stage(package, scene)
    shown_lines = importlib.import_module(f"{package}.terminal").shown_lines
    main = importlib.import_module(f"{package}.main")
    return watch(lambda: converse(main, shown_lines(lines)))


def set_stage(package: str, scene: str) -> list[str]:
    """Put what a scene needs into `main` of a step, and return what the user says."""
    scenes = importlib.import_module(f"labs.{package[:6]}.scenes")
    lines: list[str] = getattr(scenes, scene)(importlib.import_module(f"{package}.main"))
    return lines


def converse(main: Any, lines: Iterable[str]) -> Any:
    """Say `lines`, and return the context, also after an exception that nobody has caught.

    Of its traceback the user sees the last line here: that is the one that says something.
    """
    new_context = main.Context
    context = new_context(messages=[])

    def kept_context(**fields: Any) -> Any:
        nonlocal context
        context = new_context(**fields)
        return context

    main.Context = kept_context
    try:
        main.chat(lines)
    except Exception as error:
        print("".join(traceback.format_exception_only(error)), end="")
    return context
