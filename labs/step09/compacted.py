"""Somebody's transform_context: what it shows of many histories, and what it does to them."""

import asyncio
import importlib
import inspect
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, Verdict, not_yet
from .in_batches import Batch

HISTORIES = 1000


def repaired_verdict(package: str) -> Verdict | None:
    return many_histories_verdict(package) or in_a_run_verdict(package)


def compacting(package: str) -> Any:
    file = Path(package, "compacting.py")
    if not file.exists():
        raise FoundError(not_yet(say("there is no {file}", file=file.as_posix())))
    module = importlib.import_module(f"{package}.compacting")
    if not hasattr(module, "Compacting"):
        found = say("there is no class {name} in {file}", name="Compacting", file=file.as_posix())
        raise FoundError(not_yet(found))
    return module.Compacting


def many_histories_verdict(package: str) -> Verdict | None:
    """Show it histories of all kinds, each with one object for several of them."""
    new, chance = compacting(package), random.Random(9)  # noqa: S311
    for most in (1, 2, 4, 7, 20):
        one = new(most)
        # The short ones first: they are easier to read. The empty one is an easy guess.
        cases = sorted(histories(package, chance, HISTORIES // 5), key=lambda one: len(one) or 99)
        for messages in cases:
            given = [*messages]
            try:
                seen = asyncio.run(shown_by(one, messages))
            except FoundError:
                raise
            except Exception as error:
                return not_yet(
                    say("it raises {error}", error=type(error).__name__),
                    where=in_a_case(most, given),
                    expected=in_words(shown_of(given, most)),
                    seen=repr(error),
                )
            if messages != given:
                return not_yet(
                    say("it changes the history itself"),
                    where=in_a_case(most, given),
                    expected=in_words(given),
                    seen=in_words(messages),
                    guess=say("what it gets is the list of the loop: return another one"),
                )
            if seen != shown_of(given, most):
                return not_yet(
                    fault_of(given, seen, most),
                    where=in_a_case(most, given),
                    expected=in_words(shown_of(given, most)),
                    seen=in_words(seen),
                )
    return None


async def shown_by(one: Any, messages: list[Any]) -> list[Any]:
    """Ask it as the loop does."""
    waiting = one(messages) if callable(one) else None
    if not inspect.isawaitable(waiting):
        found, guess = say("Compacting cannot be awaited"), say("write async def __call__")
        raise FoundError(not_yet(found, guess=guess))
    shown = await waiting
    if not isinstance(shown, Sequence):
        raise FoundError(not_yet(say("it returns {seen}, and no list", seen=repr(shown))))
    return [*shown]


def shown_of(messages: list[Any], most: int) -> list[Any]:
    """Return the longest end that begins with a user message and fits, else the last of them."""
    starts = [place for place, message in enumerate(messages) if message.role == "user"]
    fitting = [place for place in starts if len(messages) - place <= most]
    if not starts or len(messages) <= most:
        return messages
    return messages[fitting[0] if fitting else starts[-1] :]


def fault_of(given: list[Any], seen: list[Any], most: int) -> str:
    if seen and seen != given[len(given) - len(seen) :]:
        return say("what the model sees is not the end of the history")
    if seen and seen[0].role == "toolResult":
        return say("a result was cut from its call")
    if seen and seen[0].role != "user":
        return say("what the model sees does not begin with a user message")
    if len(seen) > len(shown_of(given, most)):
        return say("the model sees more than it should")
    return say("the model sees less than it could")


def histories(package: str, chance: random.Random, count: int) -> Iterator[list[Any]]:
    """Give histories as the loop leaves them, and some in which a user speaks seldom, or never."""
    types: Any = importlib.import_module(f"{package}.harness_types")
    yield []
    for _ in range(count - 1):
        messages: list[Any] = []
        user_speaks = chance.choice((1, 1, 0.5, 0))
        for turn in range(chance.choice((1, 2, 3, 6))):
            if chance.random() < user_speaks:
                messages.append(types.user_text(f"u{turn}"))
            for answer in range(chance.choice((0, 0, 1, 3))):
                ids = [f"{turn}.{answer}.{n}" for n in range(chance.randrange(1, 4))]
                calls = [types.ToolCallContent(one, "calc", {}) for one in ids]
                messages.append(types.AssistantMessage(calls, "toolUse"))
                text = [types.TextContent("1")]
                messages += [types.ToolResultMessage(one, "calc", text) for one in ids]
            if chance.random() < 0.8:
                messages.append(types.AssistantMessage([types.TextContent("ok")], "stop"))
        yield messages


def in_a_run_verdict(package: str) -> Verdict | None:
    """Let the loop itself ask it, run after run."""
    batch = Batch(package)
    transform = compacting(package)(3)
    try:
        batch.run(prompts=("1", "2", "3", "4"), transform_context=transform)
    except FoundError:
        raise
    except Exception as error:
        return not_yet(say("the loop cannot use it"), guess=repr(error))
    sizes = [len(messages) for messages in batch.asked]
    if sizes == [1, 3, 3, 3] and len(batch.context.messages) == 8:
        return None
    return not_yet(
        say("in a run of the loop, the model sees something else than it should"),
        where=say("how many messages it sees, and the history has at the end"),
        expected="1 3 3 3; 8",
        seen=f"{' '.join(map(str, sizes))}; {len(batch.context.messages)}",
    )


def in_a_case(most: int, messages: list[Any]) -> str:
    return say("Compacting({most}) with {messages}", most=most, messages=in_words(messages))


def in_words(messages: list[Any]) -> str:
    """Return a history in one word a message."""
    words = {"user": "user", "toolResult": "result", "assistant": "text"}
    return " ".join(
        "call" if getattr(message, "stop_reason", "") == "toolUse" else words[message.role]
        for message in messages
    ) or say("(nothing)")
