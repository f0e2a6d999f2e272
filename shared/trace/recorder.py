"""Recording a run: each statement of the loop, what decided it, and what the model would see.

The step knows nothing of it. A loop and a model that look over the shoulder of the real ones take
their places, and Python's own trace function tells which statement runs. That is `sys.settrace`:
`sys.monitoring` is faster, but Python 3.11 does not have it, and here only three short functions
are followed, while every other frame is let go at once.
"""

import asyncio
import importlib
import io
import json
import sys
import time
import traceback
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from itertools import chain, repeat
from pathlib import Path
from types import FrameType
from typing import Any

from ..errors import UsageError
from ..language import say
from ..rules import matching, rule_name
from ..screen import visible
from ..watching import step_folder, watch_chat, watch_demo
from .disk import Disk
from .flow import INTERRUPTED, OUTSIDE, RAISED, Box, ending_of, flow_of, followed
from .recording import MOST_MOMENTS, Ask, Call, Head, Message, Moment, Recording, Tool
from .recording_file import write

LONGEST_DETAIL = 60  # characters
AROUND = ("turn_end", "agent_end", "message_start")  # Of a run that has told all that it has.
TRACEBACK = "\nTraceback (most recent call last):\n  …\n{}\n"


def record(package: str, sentence: str, cwd: str) -> Recording:
    """Play the demo of a step, or say one sentence to it, and return what happened.

    `cwd` is the folder in which the tools work for a sentence.
    """
    if sentence:
        return recorded(package, "sentence", lambda: watch_chat(package, [sentence], Path(cwd)))
    return recorded(package, "demo", lambda: watch_demo(package))


def record_to_file(package: str, sentence: str, cwd: str, file: str) -> Head:
    """Record, and write the file; none, if nothing happened."""
    recording = record(package, sentence, cwd)
    if recording.moments:
        write([recording], Path(file))
    return Head(recording.step)


def record_chat(package: str) -> Recording:
    """Let somebody talk to a step on the terminal, and return what happened."""
    main = importlib.import_module(f"{package}.main")
    terminal = importlib.import_module(f"{package}.terminal")
    with listening() as screen:
        vars(terminal)["input"] = screen.ask
        try:
            return recorded(package, "chat", lambda: main.main([]))
        finally:
            del vars(terminal)["input"]


class Listening(io.TextIOWrapper):
    """The standard output, and a record of what is printed there."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=True)
        self.heard = io.StringIO()

    def write(self, text: str) -> int:
        self.heard.write(text)
        return super().write(text)

    def tell(self) -> int:
        return self.heard.tell()

    def getvalue(self) -> str:
        return self.heard.getvalue()

    def ask(self, prompt: str = "") -> str:
        """Do as `input` does. What is typed on a terminal does not come through here."""
        typed = ""
        try:
            line = input(prompt)
            typed = f"{visible(line)}\n"
            return line
        finally:
            if sys.stdin is not None and sys.stdin.isatty() and self.isatty():
                self.heard.write(prompt + typed)


@contextmanager
def listening() -> Iterator[Any]:
    """Listen to the standard output. The stream itself stays open, and as it was."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        raise UsageError(say("there is no standard output here, so there is nothing to record"))
    stream.flush()
    sys.stdout = screen = Listening(stream)
    try:
        yield screen
    finally:
        sys.stdout = stream
        screen.detach()


def recorded(package: str, what: str, talk: Callable[[], object]) -> Recording:
    """Record what `talk` makes a step do. An exception that leaves the loop is the end of it."""
    onlooker = Onlooker(package, what)
    with onlooker.in_place(), onlooker.disk.watched():
        try:
            talk()
        except (Exception, KeyboardInterrupt) as error:
            if not onlooker.run:
                raise
            onlooker.screen.write(TRACEBACK.format(last_line(error)))
        onlooker.close()
    return onlooker.recording


@dataclass(slots=True)
class Place:
    """Where a frame stands: a box of the flow, the moment of this visit, and the bytecode."""

    box: int
    moment: Moment
    instruction: int


class Onlooker:
    """Takes the places of a step's loop and model, hands on all that they do, and records it."""

    def __init__(self, package: str, what: str) -> None:
        self.package, self.folder = package, step_folder(package)
        sources = sources_of(self.folder)
        functions = followed(sources)
        self.recording = Recording(package, what, started=int(time.time()))
        self.recording.sources = {file: sources[file] for file, _ in functions}
        self.names = {function.name for _, function in functions}
        self.files = {str(self.folder / file): file for file in self.recording.sources}
        self.flow = flow_of(self.recording.sources)
        home, loop = functions[0]
        module = importlib.import_module(f"{package}.{home.removesuffix('.py')}")
        self.loop = getattr(module, loop.name)
        self.model_class = importlib.import_module(f"{package}.fake_model").FakeModel
        self.talk = importlib.import_module(f"{package}.main").chat
        importlib.import_module(f"{package}.demo")  # Later it would keep a stand-in for ever.
        self.began = time.perf_counter()
        self.stands: dict[FrameType, Place] = {}
        self.known: dict[int, tuple[int, Any]] = {}
        self.context: Any = None
        self.objects: list[Any] = []  # The last one that each message of the recording was.
        self.messages: list[Any] = []
        self.disk = Disk(package)
        self.recording.lines = self.disk.lines
        self.screen: Any = None
        self.run = self.turn = 0
        self.ask: int | None = None
        self.full = False

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Stand in for the loop, the model and the chat wherever the step has them."""
        stand_ins = {
            self.loop: self.run_loop,
            self.model_class: self.model,
            # Whoever asks which parameters it has, is told those of the real one.
            self.talk: update_wrapper(partial(self.chat), self.talk),
        }
        replaced = []
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == self.package:
                for key, value in list(vars(module).items()):
                    if any(value is real for real in stand_ins):
                        setattr(module, key, stand_ins[value])
                        replaced.append((module, key, value))
        try:
            yield
        finally:
            for module, key, value in replaced:
                setattr(module, key, value)

    def chat(self, *values: Any, **options: Any) -> Any:
        """Let the step talk, and note an exception that nobody in it has caught."""
        self.screen = sys.stdout
        try:
            return self.talk(*values, **options)
        except Exception as error:
            self.fail(error)
            raise

    async def run_loop(self, *values: Any, **options: Any) -> AsyncGenerator[Any, None]:
        """Run the real loop; note its statements, and its events before people see them."""
        self.run += 1
        self.turn, self.ask = 0, None
        self.context, self.screen = options["context"], sys.stdout
        self.recording.tools = self.recording.tools or tools_of(self.context)
        before = sys.gettrace()
        sys.settrace(self.on_call)
        try:
            async with aclosing(self.loop(*values, **options)) as events:
                async for event in events:
                    self.note(event)
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            self.end(INTERRUPTED)
            raise
        except BaseException as error:
            self.end(RAISED, last_line(error))
            raise
        else:
            self.end("")
        finally:
            sys.settrace(before)
            self.stands.clear()

    def on_call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        followed = frame.f_code.co_filename in self.files and frame.f_code.co_name in self.names
        return self.on_line if followed else None

    def on_line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            box = self.flow.box_at(self.files[frame.f_code.co_filename], frame.f_lineno)
            if box is not None:
                self.arrive(frame, box)
        return self.on_line

    def arrive(self, frame: FrameType, number: int) -> None:
        """A frame has come to a line of a box. That may be one more line of the same visit."""
        boxes, before = self.flow.boxes, self.stands.get(frame)
        here = boxes[number]
        if before is not None:
            onward = frame.f_lasti > before.instruction
            if number == before.box and (onward or not before.moment.event):
                return
            # Leaving a `with` is a line of its head as well. Its code stands behind the body.
            if here.kind == "ask" and onward and boxes[before.box].line in (here.body or ()):
                return
            before.moment.value = decided(boxes[before.box], here, frame)
        self.finish()
        self.full = len(self.recording.moments) == MOST_MOMENTS
        if not self.full:
            moment = Moment(self.run, self.turn, here.file, here.line)
            self.recording.moments.append(moment)
            self.stands[frame] = Place(number, moment, frame.f_lasti)

    def now(self) -> Moment | None:
        """Return the moment of the statement that runs."""
        return self.recording.moments[-1] if self.stands and not self.full else None

    def note(self, event: Any) -> None:
        """The statement that runs has yielded an event."""
        if event.type == "turn_start":
            self.turn, self.ask = event.turn, None
        if moment := self.now():
            moment.turn, moment.event = self.turn, name_of(event)
            moment.detail = detail_of(moment.event, event)
            moment.call_id = call_id_of(event)
            moment.at = int((time.perf_counter() - self.began) * 1e6)

    def finish(self) -> None:
        """Note how things stand now that the last statement is done."""
        if moment := self.now():
            moment.history, moment.ask = self.history(), self.ask
            moment.screen, moment.disk = self.screen.tell(), self.on_disk()

    def end(self, ending: str, detail: str = "") -> None:
        """A run is over: by itself, if no `ending` is given."""
        self.finish()
        last = self.now()
        if last is None:
            return
        events = [m for m in self.recording.moments if m.run == self.run and m.event]
        while len(events) > 1 and events[-1].event in AROUND and self.loop.__name__ == "run_loop":
            events.pop()
        event = events[-1] if events else None
        if not ending and event is not None:
            ending = ending_of(self.flow, event.file, event.line, event.event)
        last.ending, last.detail = ending, last.detail or detail
        box = self.flow.boxes[self.flow.box_at(last.file, last.line) or 0]
        by_itself = ending not in (RAISED, INTERRUPTED)
        if by_itself and not last.value and box.kind in ("loop", "if"):
            last.value = "end" if box.target else "False"

    def fail(self, error: Exception) -> None:
        """The conversation has failed: if that was outside the loop, note the line that raised."""
        moments = self.recording.moments
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if Path(frame.filename).is_relative_to(self.folder)]
        if ours and not self.full and not (moments and moments[-1].ending == RAISED):
            file = Path(ours[-1].filename).relative_to(self.folder).as_posix()
            self.recording.sources[file] = sources_of(self.folder)[file]
            moment = Moment(max(self.run, 1), self.turn, file, ours[-1].lineno or 1)
            moment.ending, moment.detail = OUTSIDE, last_line(error)
            moment.history = moments[-1].history if moments else 0
            moment.screen, moment.disk = self.screen.tell(), self.on_disk()
            moments.append(moment)

    def close(self) -> None:
        """The conversation is over. What was printed last, such as the goodbye, belongs to it."""
        if self.recording.moments:
            last, screen = self.recording.moments[-1], self.screen.getvalue()
            if not self.full:
                last.screen, last.disk = len(screen), self.on_disk()
            self.recording.screen = screen[: last.screen]
        messages, ids = self.recording.messages, {line.id for line in self.disk.lines}
        for place, message in enumerate(self.objects):
            entry = self.disk.entry_of(message)
            messages[place] = replace(messages[place], entry=entry if entry in ids else None)

    def history(self) -> int:
        """Return the place of the history as it is now among those of the recording, new or not."""
        now, histories = self.context.messages, self.recording.histories
        if len(now) != len(self.messages) or any(map(is_other, now, self.messages)):
            self.messages = list(now)
            histories.append(list(map(self.place, now, chain(histories[-1], repeat(None)))))
        return len(histories) - 1

    def on_disk(self) -> int:
        """Return the place of what is in the session file now, new or not."""
        disks = self.recording.disks
        if self.disk.now != disks[-1]:
            disks.append(self.disk.now)
        return len(disks) - 1

    def place(self, message: Any, before: int | None) -> int:
        """Return the place of a message; it is the same one only if it is the same object.

        A history that comes back from a file says the same as before, with objects of its own: so
        a message may be the one that stood there `before`, too, if it has the same entry.
        """
        if id(message) not in self.known:
            messages, data, entry_of = self.recording.messages, as_data(message), self.disk.entry_of
            other = before is None or entry_of(self.objects[before]) != entry_of(message)
            if before is None or other or messages[before] != data:
                before = len(messages)
                messages.append(data)
                self.objects.append(message)
            self.objects[before] = message
            self.known[id(message)] = (before, message)
        return self.known[id(message)][0]

    def model(self, rules: Any, **settings: Any) -> Any:
        """Make the real model, and note on which key it is asked and which rule answers."""
        model = self.model_class(rules, **settings)
        match_key = sys.modules[self.model_class.__module__].match_key

        def ask(context: Any, options: Any = None) -> Any:
            key = match_key(context)
            places = matching(rules, key, context.messages[:-1])
            rule = rule_name(rules, places[0]) if places else "no rule"
            self.ask = len(self.recording.asks)
            self.recording.asks.append(Ask(key, rule))
            return model(context, options)

        return ask


def is_other(one: object, other: object) -> bool:
    return one is not other


def sources_of(folder: Path) -> dict[str, str]:
    """Return the modules of a step by their names, first those that hold a loop."""
    files = [f.relative_to(folder) for f in folder.rglob("*.py")]
    modules = sorted(f.as_posix() for f in files if f.parts[0] != "tests")
    modules.sort(key=lambda name: name not in ("agent_loop.py", "run_loop.py"))
    return {name: (folder / name).read_text("utf-8", "replace") for name in modules}


def decided(box: Box, following: Box, frame: FrameType) -> str:
    """Return what decided a head, now that it is known what came after it."""
    if box.body is None or box.kind == "ask":
        return ""
    if following.line not in box.body:
        return "end" if box.kind == "loop" and box.target else "False"
    names = [name.strip(" ()[]*") for name in box.target.split(",") if box.target]
    if names and all(name in frame.f_locals for name in names):
        return ", ".join(in_words(frame.f_locals[name]) for name in names)
    return "True"


def in_words(value: object) -> str:
    """Return a value in a few words: an event by its type, a tool call by its id and name."""
    match value:
        case None | bool() | int() | float() | str():
            return shortened(repr(value), LONGEST_DETAIL)
        case BaseException():
            return last_line(value)
    kind = getattr(value, "type", type(value).__name__)
    return f"{call_words(value)}" if kind == "toolCall" else str(kind)


def last_line(error: BaseException) -> str:
    words = traceback.format_exception_only(error)[-1]
    return shortened(words.removeprefix(f"{type(error).__module__}."), LONGEST_DETAIL)


def call_words(call: Any) -> str:
    return shortened(f"{call.id} {call.name}", LONGEST_DETAIL)


def call_id_of(event: Any) -> str | None:
    """Return the id of the call that an event is about, if it is about one."""
    event = getattr(event, "event", event)
    call = getattr(event, "tool_call", event)
    call_id = getattr(call, "id", getattr(call, "tool_call_id", None))
    return None if call_id is None else str(call_id)


def name_of(event: Any) -> str:
    """Return the name of an event: one of `run_loop` has the name that earlier steps give it.

    So what the model says is not hidden in updates, and two steps can be laid beside each other.
    """
    match event.type:
        case "message_update":
            return str(event.event.type)
        case "message_start" if event.message.role == "assistant":
            return "start"
        case "message_end" if event.message.role == "assistant":
            return "done" if event.message.error_message is None else "error"
        case "tool_execution_start":
            return "tool_call"
        case "tool_execution_end":
            return "tool_result"
    return str(event.type)


def detail_of(name: str, event: Any) -> str:
    """Return what is worth reading of an event, in a few words."""
    match name:
        case "text_delta":
            text = str(getattr(event, "event", event).delta)
        case "toolcall" | "tool_call":
            text = call_words(getattr(event, "event", event).tool_call)
        case "tool_result":
            call, result = getattr(event, "tool_call", None), getattr(event, "result", event)
            words = call_words(call) if call else f"{event.tool_call_id} {event.tool_name}"
            text = f"{words} → {result.content}"
        case "error":
            text = str(event.message.error_message if hasattr(event, "message") else event.error)
        case "turn_start" | "turn_end":
            text = str(event.turn)
        case _:
            text = ""
    return shortened(text, LONGEST_DETAIL)


def shortened(text: str, length: int) -> str:
    """Return a text in one line that is not too long."""
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[:length]}…"


def tools_of(context: Any) -> list[Tool]:
    """Return what the model is told of its tools, in a step that tells it."""
    return [
        Tool(tool.name, tool.description, compact_json(tool.parameters))
        for tool in getattr(context, "tools", [])
    ]


def as_data(message: Any) -> Message:
    """Return a message of any step as plain data; arguments as the text that people see of them."""
    is_result = message.role == "toolResult"
    return Message(
        role=message.role,
        text="".join(str(block.text) for block in message.content if block.type == "text"),
        calls=[
            Call(str(block.id), str(block.name), compact_json(block.arguments))
            for block in message.content
            if block.type == "toolCall"
        ],
        answers=str(message.tool_call_id) if is_result else None,
        tool=str(message.tool_name) if is_result else None,
        is_error=is_result and bool(message.is_error),
    )


def compact_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return repr(value)
