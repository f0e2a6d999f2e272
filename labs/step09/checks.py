"""The tasks of this step, as a reader has done them. The working directory is the root."""

from pathlib import Path

from ..breaks import pinned_run
from ..conversation import play_demo
from ..language import say
from ..my_output import check_my_output
from ..script_rules import rule_lines, runs
from ..unasked import unasked_change
from ..verdict import Verdict, differs, done, settled
from .compacted import repaired_verdict
from .in_batches import as_they_end_verdict, in_order_verdict, kept_verdict
from .struck_out import todo_verdict

HERE = Path(__file__).parent
# What the tasks of this step ask a reader to change. It is judged by what it does.
ASKED = ("tool_batch.ToolBatch",)


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(package, pinned_run(HERE, "demo").transcript)


@settled
def task2(package: str) -> Verdict:
    """Put results into the history as the tools end."""
    return (
        runs(package)
        or as_they_end_verdict(package)
        or kept_verdict(package)
        or all_else(package)
        or done(say("the results stand as the tools have ended, and none is missing"))
    )


@settled
def task3(package: str) -> Verdict:
    """Write a tool that must be alone, and may end the run."""
    return (
        runs(package)
        or todo_verdict(package)
        or in_order_verdict(package)
        or kept_verdict(package)
        or all_else(package)
        or done(say("it works alone, can be stopped, and ends the run with its last item"))
    )


@settled
def task4(package: str) -> Verdict:
    """Repair a transform_context that forgets too much."""
    return (
        runs(package)
        or repaired_verdict(package)
        or in_order_verdict(package)
        or kept_verdict(package)
        or all_else(package)
        or done(say("the model sees the end of the history in pairs, and the history stays whole"))
    )


def all_else(package: str) -> Verdict | None:
    """Return what was changed although no task asks for it, and what that does."""
    known = pinned_run(HERE, "demo").transcript
    seen = play_demo(package)
    if found := unasked_change(package, ASKED):
        return found
    rules, rules_now = (HERE / "rules.txt").read_text("utf-8"), rule_lines(package)
    if rules_now != rules:
        return differs(say("a rule is changed"), "rules.py", rules, rules_now)
    if seen != known:
        return differs(say("the demo is not what it should be"), say("the demo"), known, seen)
    return None
