"""Somebody's model that asks again, and a model behind it that fails as it is told to."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, Verdict, not_yet
from .served import event_in_words

SECONDS = 3  # Nothing here takes long, and what hangs is not waited for.


class Failing:
    """A model that plays one try after the other, and notes how it is used."""

    def __init__(self, *tries: list[Any]) -> None:
        self._left = list(tries)
        self.asked: list[tuple[Any, Any]] = []
        self.open = 0
        self.log: list[str] = []

    async def __call__(self, context: Any, options: Any = None, /) -> AsyncGenerator[Any, None]:
        self.asked.append((context, options))
        self.open += 1
        try:
            for event in self._left.pop(0) if len(self._left) > 1 else self._left[0]:
                self.log.append(f"sent {event.type}")
                yield event
        finally:
            self.open -= 1


class Asker:
    """The class Retrying of a reader, and the events that go through it."""

    def __init__(self, package: str) -> None:
        file = Path(package, "retrying.py")
        if not file.exists():
            raise FoundError(not_yet(say("there is no {file}", file=file.as_posix())))
        module = importlib.import_module(f"{package}.retrying")
        if not hasattr(module, "Retrying"):
            found = say("there is no class {name} in {file}", name="Retrying", file=file.as_posix())
            raise FoundError(not_yet(found))
        self._new: Any = module.Retrying
        self._types: Any = importlib.import_module(f"{package}.harness_types")
        self.waits: list[float] = []
        self.context = self._types.Context([self._types.user_text("hi")])
        self.options = self._types.StreamOptions()

    def start(self) -> Any:
        return self._types.StreamStart()

    def text(self, delta: str) -> Any:
        return self._types.TextDelta(delta)

    def call(self) -> Any:
        block = self._types.ToolCallContent("call_1", "calc", {"expression": "12*8"})
        return self._types.ToolCallAnnounced(block)

    def done(self, text: str) -> Any:
        content = [self._types.TextContent(text)]
        return self._types.StreamDone(self._types.AssistantMessage(content, "stop"))

    def error(self, sentence: str) -> Any:
        return self._types.StreamError(sentence)

    def events(self, model: Failing, *, leave: str = "") -> list[Any]:
        """Return what comes out, up to the first event of the type `leave`."""
        return asyncio.run(asyncio.wait_for(self._events(model, leave), SECONDS))

    async def _events(self, model: Failing, leave: str) -> list[Any]:
        self.waits.clear()
        events: list[Any] = []
        async with aclosing(self._new(model, self._wait)(self.context, self.options)) as stream:
            async for event in stream:
                model.log.append(f"got {event.type}")
                events.append(event)
                if event.type == leave:
                    break
        model.log.append(f"open {model.open}")
        return events

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def cancelled(self, model: Failing) -> bool:
        """Cancel the task while it waits for the next try; return whether that ends it."""
        return asyncio.run(self._cancelled(model))

    async def _cancelled(self, model: Failing) -> bool:
        waiting = asyncio.Event()

        async def forever(seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

        async def listen() -> None:
            async with aclosing(self._new(model, forever)(self.context, self.options)) as stream:
                async for _ in stream:
                    pass

        task = asyncio.ensure_future(listen())
        up = asyncio.ensure_future(waiting.wait())
        await asyncio.wait({task, up}, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        task.cancel()
        await asyncio.wait({task}, timeout=SECONDS)
        return task.cancelled()


def in_words(events: list[Any]) -> str:
    return ", ".join(map(event_in_words, events))


DOWN = "连不上模型服务，请检查网络和 --base-url"
# What another try may help, and what it cannot.
PASSING = [
    DOWN,
    "请求太多，或者额度用完了（429），请过一会儿再试",
    "模型服务出错了（503），请过一会儿再试",
    "模型服务等得太久，放弃了（408），请再试一次",
]
STAYING = [
    "模型服务不接受这个密钥（401），请检查环境变量 OPENAI_API_KEY",
    "模型服务没有这个地址或这个模型（404），请检查 --base-url 和 --model",
    "模型服务拒绝了这个请求（400）：n should be (503) or less",
]


def repaired_verdict(package: str) -> Verdict | None:
    asker = Asker(package)
    return (
        helps_verdict(asker)
        or limit_verdict(asker)
        or shown_verdict(asker)
        or staying_verdict(asker)
        or passed_on_verdict(asker)
        or left_verdict(asker)
    )


def helps_verdict(asker: Asker) -> Verdict | None:
    """Let the first try fail before anything was said, and the second one go well."""
    good = [asker.start(), asker.text("你好"), asker.done("你好")]
    for sentence in PASSING:
        for bad in ([asker.error(sentence)], [asker.start(), asker.error(sentence)]):
            model = Failing(bad, good)
            events = asker.events(model)
            where = say(
                "a try that fails with 「{sentence}」, then one that goes well", sentence=sentence
            )
            if events != good:
                found = say("what comes out is not the answer of the second try alone")
                return not_yet(found, where=where, expected=in_words(good), seen=in_words(events))
            if len(asker.waits) != 1 or asker.waits[0] <= 0:
                return not_yet(
                    say("it does not wait with the `wait` that it was given"),
                    where=where,
                    expected="wait(1.0)",
                    seen=", ".join(f"wait({seconds})" for seconds in asker.waits),
                    guess=say("time.sleep stops the whole program; await self._wait(...)"),
                )
    return None


def limit_verdict(asker: Asker) -> Verdict | None:
    model = Failing([asker.start(), asker.error(DOWN)])
    events = asker.events(model)
    where = say("a service that is always down")
    if len(model.asked) != 3:
        return not_yet(
            say("the model is not asked three times in all"),
            where=where,
            expected="3",
            seen=str(len(model.asked)),
        )
    ends = [event for event in events if event.type != "start"]
    if ends != [asker.error(DOWN)] or len(events) > 2 or len(asker.waits) != 2:
        return not_yet(
            say("what comes out is not one error, behind two waits"),
            where=where,
            expected=f"error {DOWN}",
            seen=in_words(events),
        )
    return None


def shown_verdict(asker: Asker) -> Verdict | None:
    """Let a try fail when something of it was shown."""
    for shown in (asker.text("我来"), asker.call()):
        first = [asker.start(), shown, asker.error(DOWN)]
        model = Failing(first, [asker.start(), asker.done("你好")])
        events = asker.events(model)
        if events != first or len(model.asked) != 1:
            return not_yet(
                say("it asks again although something was shown"),
                where=say("a try that fails in the middle"),
                expected=in_words(first),
                seen=in_words(events),
            )
    return None


def staying_verdict(asker: Asker) -> Verdict | None:
    for sentence in STAYING:
        model = Failing([asker.error(sentence)])
        events = asker.events(model)
        if len(model.asked) != 1 or events != [asker.error(sentence)]:
            return not_yet(
                say("it asks again where that cannot help"),
                where=f"error {sentence}",
                expected=say("asked once, and the error passed on"),
                seen=say(
                    "asked {count} times, and {events}",
                    count=len(model.asked),
                    events=in_words(events),
                ),
            )
    return None


def passed_on_verdict(asker: Asker) -> Verdict | None:
    good = [asker.start(), asker.text("a"), asker.text("b"), asker.done("ab")]
    model = Failing(good)
    if asker.events(model) != good or model.asked != [(asker.context, asker.options)]:
        return not_yet(say("an answer that goes well is not passed on as it is"))
    if model.log.index("got text_delta") > model.log.index("sent done"):
        return not_yet(
            say("a piece of text is shown only when the next one has come, or all of them"),
            guess=say("hold back what says nothing, and only until something does"),
        )
    return None


def left_verdict(asker: Asker) -> Verdict | None:
    model = Failing([asker.error(DOWN)], [asker.start(), asker.done("你好")])
    if not asker.cancelled(model) or len(model.asked) != 1:
        return not_yet(
            say("it goes on although the task was cancelled while it waits"),
            guess=say("a CancelledError has to get through"),
        )
    model = Failing([asker.start(), asker.text("a"), asker.text("b"), asker.done("ab")])
    asker.events(model, leave="text_delta")
    if model.log[-1] != "open 0":
        return not_yet(
            say("whoever leaves early leaves the stream of the model open"),
            guess=say("async with aclosing(...) around the stream"),
        )
    return None
