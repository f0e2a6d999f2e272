"""The tasks of step04, as a reader has done them. The working directory is the root."""

import asyncio
import importlib
import inspect
import re
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from pathlib import Path
from typing import Any

from shared.watching import Run, watch, watch_chat

from ..breaks import pinned_run
from ..conversation import changed_scene, missing_in_demo, rules_of
from ..language import say
from ..my_output import check_my_output
from ..script_rules import changed_rule, first_for, named, runs, unanswered
from ..unasked import unasked_change
from ..verdict import Verdict, differs, done, not_yet
from .loop_moments import SHIPPED, keeps, loop_verdict

HERE = Path(__file__).parent
# What the tasks of this step ask a reader to change. It is judged by what it does.
ASKED = (
    "agent_loop.run_agent_loop",
    "demo.SCRIPT",
    "demo.other statements",
    "main.chat",
    "main.run_agent_loop",
    "rules.*",
)
SENTENCE = "帮我算 100-1"
ENDLESS = "一直算"
MANY_TURNS = 20
DELAY = 0.5  # seconds; nobody waits for them here


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(package, pinned_run(HERE, "demo").transcript)


def task2(package: str) -> Verdict:
    """Take out the append of the result."""
    known = pinned_run(HERE, "no-append")
    return (
        runs(package)
        or untouched_loop(package)
        or common_verdict(package, known, SHIPPED - {"result"})
        or done(say("the screen shows 96, the model never learns of it, and 8 messages are left"))
    )


def untouched_loop(package: str) -> Verdict | None:
    if keeps(package, SHIPPED):
        return not_yet(say("the loop still puts every result into context.messages"))
    return None


def common_verdict(package: str, known: Run, kept: Collection[str]) -> Verdict | None:
    """Return what is wrong with all that a task does not ask for.

    `known` is what the demo should leave, and `kept` what the loop should keep in the history.
    """
    return (
        unasked_change(package, ASKED)
        or loop_verdict(package, kept)
        or changed_rule(package, HERE)
        or changed_scene(package, known)
        or missing_in_demo(package, known.transcript)
    )


def task3(package: str) -> Verdict:
    """Add a pair of rules and a line to the demo: 「帮我算 100-1」 takes two turns."""
    return (
        runs(package)
        or unanswered(package, SENTENCE)
        or common_verdict(package, pinned_run(HERE, "demo"), SHIPPED)
        or sentence_verdict(package)
        or missing_in_demo(package, watch_chat(package, [SENTENCE]).transcript)
        or done(
            say(
                "「{sentence}」 takes two turns, and all other sentences are answered as before",
                sentence=SENTENCE,
            )
        )
    )


def sentence_verdict(package: str) -> Verdict | None:
    """Say the new sentence: a call, its result, and an answer to the result."""
    rule = first_for(rules_of(package), SENTENCE)
    call = {"name": "calc", "arguments": {"expression": "100-1"}}
    if rule.tool_call != call:
        return not_yet(
            say("{rule} does not ask for calc with 100-1", rule=named(rule)),
            where=say("its tool_call"),
            expected=str(call),
            seen=str(rule.tool_call),
        )
    if unheard := unanswered(package, "toolResult:calc 99"):
        return unheard
    wanted = [
        f'user "{SENTENCE}"',
        'assistant "..." → call_1 calc {"expression": "100-1"}',
        'toolResult call_1 calc "99"',
        'assistant "..."',
    ]
    history = watch_chat(package, [SENTENCE]).history
    seen = re.sub(r'^assistant "(\\.|[^"\\])*"', 'assistant "..."', history, flags=re.MULTILINE)
    if seen.splitlines() != wanted:
        return differs(
            say("「{sentence}」 does not take two turns with one tool call", sentence=SENTENCE),
            say("the messages"),
            "\n".join(wanted),
            seen,
            guess=say("neither rule has an error, and only the first one has a tool_call"),
        )
    return None


def task4(package: str) -> Verdict:
    """Pass max_turns=2, and let the model always want a tool: 「一直算」."""
    return (
        runs(package)
        or unanswered(package, ENDLESS)
        or changed_default(package)
        or common_verdict(package, pinned_run(HERE, "demo"), SHIPPED)
        or stops_by_itself(package)
        or limit_verdict(package)
        or done(say("after 2 turns the loop stops with its error, and the results are kept"))
    )


def changed_default(package: str) -> Verdict | None:
    loop = importlib.import_module(f"{package}.agent_loop").run_agent_loop
    if inspect.signature(loop).parameters["max_turns"].default == 8:
        return None
    return not_yet(
        say("the default of run_agent_loop has changed, for all of its callers"),
        guess=say("leave it at 8 and pass max_turns=2 where main.py calls run_agent_loop"),
    )


def stops_by_itself(package: str) -> Verdict | None:
    """Say 「一直算」 with many turns allowed: the model has to want a tool in each of them."""
    messages = asyncio.run(long_run(package, ENDLESS))
    results = [message for message in messages if message.role == "toolResult"]
    if len(results) == MANY_TURNS:
        return None
    key = ENDLESS
    if results:
        text = "".join(block.text for block in results[-1].content)
        key = f"toolResult:{results[-1].tool_name} {text}"
    rule = first_for(rules_of(package), key)
    return unanswered(package, key) or not_yet(
        say("the model wants no tool in turn {turn}", turn=len(results) + 1),
        guess=say(
            "{rule} answers 「{key}」: it needs a tool_call and no error, or one before it does",
            rule=named(rule),
            key=key,
        ),
    )


async def long_run(package: str, sentence: str) -> list[Any]:
    """Return the messages of a run with MANY_TURNS."""
    loop = importlib.import_module(f"{package}.agent_loop").run_agent_loop
    model = importlib.import_module(f"{package}.fake_model").FakeModel(rules_of(package))
    types = importlib.import_module(f"{package}.harness_types")
    tools = importlib.import_module(f"{package}.tools").create_tools()
    context = types.Context([types.user_text(sentence)])
    events = loop(stream_fn=model, context=context, tools=tools, max_turns=MANY_TURNS)
    async with aclosing(events):
        async for _ in events:
            pass
    return list(context.messages)


def limit_verdict(package: str) -> Verdict | None:
    """Talk to the step, and to a model that always wants a tool whatever is said."""
    limit = "[错误] Agent Loop 达到最大轮数 2，已强制停止。"
    guess = say("pass max_turns=2 where main.py calls run_agent_loop")
    run = watch_chat(package, [ENDLESS])
    if f"\n{limit}\n" not in run.transcript:
        return not_yet(
            say("「{sentence}」 is not stopped after 2 turns", sentence=ENDLESS),
            where=say("the end of that run"),
            expected=limit,
            seen=run.transcript.partition("\n\n")[0].splitlines()[-1],
            guess=guess,
        )
    asked = given_to_a_model(package)
    if len(asked) != 2:
        found = say("max_turns=2 holds for 「{sentence}」 only", sentence=ENDLESS)
        return not_yet(found, guess=guess)
    if asked[0] != DELAY:
        return not_yet(
            say("chat does not pass its delay on to run_agent_loop any more"),
            guess=say("stream_options=options has to stay, beside max_turns=2"),
        )
    return None


def given_to_a_model(package: str) -> list[object]:
    """Return the delay that chat gives to its model, once for each time that it asks it."""
    main: Any = importlib.import_module(f"{package}.main")
    types = importlib.import_module(f"{package}.harness_types")
    given: list[object] = []

    async def model(_: Any, options: Any) -> AsyncGenerator[Any, None]:
        given.append(getattr(options, "delay", None))
        call = types.ToolCallContent(f"call_{len(given)}", "calc", {"expression": "3*4"})
        yield types.StreamDone(types.AssistantMessage([call], "toolUse"))

    own, main.FakeModel = main.FakeModel, lambda rules: model
    try:
        watch(lambda: main.chat(["随便说一句"], delay=DELAY))
    finally:
        main.FakeModel = own
    return given
