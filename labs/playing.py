"""`make demo` and `make chat`: a step, run as it runs on its own."""

import os
import runpy
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def demo(step: Path) -> int:
    sys.argv[1:] = []  # They were said to this command and not to the demo.
    runpy.run_module(f"{step.name}.demo", run_name="__main__", alter_sys=True)
    return 0


def chat(step: Path, record: bool, provider: str, model: str, base_url: str) -> int:
    if provider or model or base_url:
        return chat_with_service(step, record, provider, model, base_url)
    if record:
        status: int = import_module("labs.tracing").chat(step)
        return status
    import_module(f"{step.name}.main").main([])
    return 0


def chat_with_service(step: Path, record: bool, provider: str, model: str, base_url: str) -> int:
    """Let a real model answer, in an environment that has its SDK; that is made if need be."""
    # Only now: a demo, and a chat with the script, do without these.
    from shared import environment
    from shared.errors import UsageError
    from shared.steps import ROOT

    from .language import say

    if record:
        raise UsageError(say("a conversation with a real model cannot be recorded: say RECORD=0"))
    if not (step / "providers").exists():
        raise UsageError(say("{step} talks to no server: say STEP=08", step=step.name))
    services = import_module(f"{step.name}.providers").SERVICES
    needed = provider in services and not find_spec(provider)
    python = str(environment.ready_python()) if needed else sys.executable
    words = [python, "-m", step.name]
    words += ["--provider", provider] if provider else []
    words += ["--model", model] if model else []
    words += ["--base-url", base_url] if base_url else []
    # It takes the place of this process: so the terminal, and Ctrl-C, are its own.
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    sys.stdout.flush()
    os.execve(python, words, {**os.environ, "PYTHONPATH": path})  # noqa: S606
