"""`make demo` and `make chat`: a step, run as it runs on its own."""

import runpy
import sys
from importlib import import_module
from pathlib import Path


def demo(step: Path) -> int:
    sys.argv[1:] = []  # They were said to this command and not to the demo.
    runpy.run_module(f"{step.name}.demo", run_name="__main__", alter_sys=True)
    return 0


def chat(step: Path, record: bool) -> int:
    if record:
        status: int = import_module("labs.tracing").chat(step)
        return status
    import_module(f"{step.name}.main").main([])
    return 0
