"""The tasks of step05, as a reader has done them. The working directory is the root."""

from pathlib import Path

from shared.watching import Run

from ..breaks import pinned_run
from ..conversation import changed_scene, missing_in_demo
from ..language import say
from ..my_output import check_my_output
from ..script_rules import changed_rule, runs
from ..unasked import unasked_change
from ..verdict import Verdict, done, not_yet, settled
from . import enums
from .gates import (
    calc_verdict,
    first_gate_stands,
    gates_verdict,
    registry_verdict,
    validate_verdict,
)
from .listing import listing_verdict, registered

HERE = Path(__file__).parent
# What the tasks of this step ask a reader to change. It is judged by what it does.
ASKED = (
    "agent_loop.run_tool",
    "demo.SCRIPT",
    "demo.other statements",
    "rules.*",
    "tools.__init__.*",
    "tools.calc.*",
    "tools.tool_types.PropertySchema",
    "tools.validate.schema_faults",
    "tools.validate.validate",
)


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(package, pinned_run(HERE, "demo").transcript)


@settled
def task2(package: str) -> Verdict:
    """Take out the validation."""
    return (
        runs(package)
        or untouched_gate(package)
        or around_verdict(package, checked=False)
        or script_verdict(package, pinned_run(HERE, "no-validate"))
        or done(say("the wrong call still fails, but nothing in its result says what to fix"))
    )


@settled
def task3(package: str) -> Verdict:
    """Add enum to the schema type, to validate, and to a parameter `op` of calc."""
    return (
        runs(package)
        or enums.untouched(package)
        or around_verdict(package, checked=True)
        or enums.type_verdict(package)
        or enums.enum_verdict(package)
        or enums.op_verdict(package)
        or script_verdict(package, pinned_run(HERE, "demo"))
        or done(say("a value outside the enum is refused by name, the rest is as before"))
    )


@settled
def task4(package: str) -> Verdict:
    """Add a tool list_files: registered, scripted, and kept inside the folder."""
    return (
        runs(package)
        or registered(package)
        or around_verdict(package, checked=True)
        or listing_verdict(package)
        or script_verdict(package, pinned_run(HERE, "demo"))
        or done(say("list_files lists the inside, refuses the outside, and can be talked to"))
    )


def untouched_gate(package: str) -> Verdict | None:
    if first_gate_stands(package):
        return not_yet(say("run_tool still asks validate before it runs a tool"))
    return None


def around_verdict(package: str, *, checked: bool) -> Verdict | None:
    """Return what is wrong with the way to a tool; `checked` tells whether validate is asked."""
    return (
        unasked_change(package, ASKED)
        or validate_verdict(package)
        or registry_verdict(package)
        or gates_verdict(package, checked=checked)
    )


def script_verdict(package: str, known: Run) -> Verdict | None:
    """Return what is wrong with calc, the rules and the demo, which should leave `known`."""
    return (
        calc_verdict(package)
        or changed_rule(package, HERE)
        or changed_scene(package, known)
        or missing_in_demo(package, known.transcript)
    )
