"""The commands, one row each: what is typed, what it does, and who does it.

`python3 -m labs NAME ...` takes its words from here and help its lines; make has a rule of the same
name for each row. A handler is named and not imported: `make demo` loads nothing but a demo.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """One thing that can be said to a command.

    With make it is a variable, such as STEP=04. Without, it is a word in its place, or `--step 04`
    if it is an option. The handler gets it as a keyword argument, `parameter`: a step as its
    folder, a switch as a bool, anything else as text, which is empty if nothing was said.
    """

    variable: str
    parameter: str
    example: str
    help: str = ""
    option: bool = False
    switch: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command; `handler` is "module:function", and the function returns an exit status."""

    group: str
    name: str
    handler: str
    help: str
    arguments: tuple[Argument, ...] = ()


def option(variable: str, parameter: str, example: str, text: str) -> Argument:
    return Argument(variable, parameter, example, text, option=True)


def switch(variable: str, parameter: str, text: str) -> Argument:
    return Argument(variable, parameter, "1", text, option=True, switch=True)


STEP_04 = Argument("STEP", "step", "04")
STEP_05 = Argument("STEP", "step", "05")
TASK_3 = Argument("TASK", "task", "3")
HELLO = "你好"

COMMANDS = (
    Command("run", "demo", "labs.playing:demo", "play the demo of a step", (STEP_04,)),
    Command(
        "run",
        "chat",
        "labs.playing:chat",
        "talk to a step; /exit leaves",
        (
            STEP_05,
            switch("RECORD", "record", "and keep a recording of it"),
            option("PROVIDER", "provider", "openai", "a real model answers, from step08 on"),
            option("MODEL", "model", "qwen3", "which one"),
            option("BASE_URL", "base_url", "http://host/v1", "where its server is"),
        ),
    ),
    Command(
        "run",
        "live",
        "shared.live:live",
        "put two open questions to a real model",
        (
            Argument("STEP", "step", "08"),
            option("BASE_URL", "base_url", "http://host/v1", "where its server is"),
            option("MODEL", "model", "qwen3", "which one"),
        ),
    ),
    Command(
        "read",
        "diff",
        "shared.step_diff:diff",
        "what a step changes in the step before it",
        (
            STEP_05,
            option("FROM", "other", "03", "in another step"),
            option("FILE", "file", "agent_loop", "in one file"),
            switch("ALL", "everything", "with tests, expected output and READMEs"),
        ),
    ),
    Command(
        "read",
        "trace",
        "labs.tracing:trace",
        "watch the loop turn, in a browser",
        (
            Argument("STEP", "number", "04"),
            option("INPUT", "sentence", HELLO, "one sentence instead of the demo"),
            option("BREAK", "name", "no-append", "beside a broken copy (see make break)"),
            option("FILE", "file", "run.jsonl", "a recording instead of a step"),
            switch("TEXT", "text", "as a listing in the terminal"),
            switch("JSON", "json", "write the recording itself"),
            switch("CAST", "cast", "write a film for asciinema"),
            switch("OTLP", "otlp", "write OpenTelemetry spans"),
            switch("OPEN", "show", "open the page at once"),
        ),
    ),
    Command("practise", "lab", "labs.practice:lab", "the tasks, and how far you are", (STEP_04,)),
    Command(
        "practise",
        "check",
        "labs.checking:check",
        "check what you did for a task",
        (STEP_04, TASK_3),
    ),
    Command(
        "practise",
        "hint",
        "labs.practice:hint",
        "three hints, one at a time",
        (STEP_04, TASK_3),
    ),
    Command(
        "practise",
        "solution",
        "labs.practice:solution",
        "the reference solution, when yours is done",
        (STEP_04, TASK_3, switch("SHOW", "show", "before that")),
    ),
    Command(
        "practise",
        "reset",
        "labs.reset:reset",
        "restore a step; your changes are saved first",
        (Argument("STEP", "number", "04"),),
    ),
    Command(
        "practise",
        "break",
        "labs.breaking:break_it",
        "what can be broken in a step",
        (STEP_04, Argument("NAME", "name", "no-append", "break it, in a copy")),
    ),
    Command(
        "practise",
        "rules",
        "labs.rule_debugger:rules",
        "whether the rules of a step have a problem",
        (STEP_04, option("INPUT", "sentence", HELLO, "which rule answers")),
    ),
    Command(
        "read",
        "conform",
        "labs.conforming:conform",
        "the full loop beside the real Pi",
        (option("FILE", "file", "scenario.json", "one, and what our loop tells"),),
    ),
    Command(
        "develop",
        "test",
        "labs.developing:test",
        "run all tests",
        (Argument("STEP", "number", "04", "those of one step"),),
    ),
    Command("develop", "lint", "labs.developing:lint", "ruff and mypy over everything"),
    Command(
        "develop",
        "conformance",
        "labs.conforming:conformance",
        "play the scenarios on the real Pi again",
    ),
    Command(
        "develop",
        "snapshots",
        "labs.developing:snapshots",
        "write the expected output of a step again",
        (STEP_04, switch("ALL", "everything", "and all else that a changed step changes")),
    ),
    Command(
        "develop",
        "bench",
        "shared.bench.command:bench",
        "what a demo and a turn cost, as ratios",
        (switch("PEERS", "peers", "beside other agents, which it installs first"),),
    ),
    Command(
        "develop",
        "site",
        "playground.command:site",
        "build the site, with its playground",
        (
            switch("SERVE", "serve", "and serve it on this machine"),
            switch("TEST", "test", "and test it, in a Chromium"),
        ),
    ),
    Command("develop", "screenshot", "labs.tracing:screenshot", "the picture in the README"),
)
