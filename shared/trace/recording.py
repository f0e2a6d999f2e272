"""A recording: what happened in a conversation, statement by statement."""

from dataclasses import dataclass, field

MOST_MOMENTS = 100_000  # Whoever wants to look at more than that looks at something else.


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model; `arguments` is the JSON that people see of them."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of any step as plain data; `answers` is the id of the call that a result is for.

    entry: the id under which a session file holds it, in a step that keeps sessions. It is no
    part of what the message says.
    """

    role: str
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    answers: str | None = None
    tool: str | None = None
    is_error: bool = False
    entry: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a session file: `kind` is the role of its message, or else its type.

    A line that could not be read has only its text.
    """

    kind: str = ""
    id: str | None = None
    parent: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """What the model is told of a tool; `parameters` is a JSON Schema, as JSON."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True)
class Ask:
    """What the rules are matched against when the model is asked, and the rule that answers."""

    key: str
    rule: str


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction to be made before the run is seen, in both languages.

    What is said in `also` counts as the answer, too.
    """

    ask: str
    ask_zh: str
    answer: str
    answer_zh: str
    also: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cause:
    """What was changed in the step before it ran: in `file`, `old` became `new`.

    `title` is the change in a few words, `why` says why it matters, `setting` what happens in a
    scene that is not the demo, and `questions` are to be answered before the run is seen.
    """

    name: str
    title: str
    title_zh: str
    why: str
    why_zh: str
    file: str
    old: str
    new: str
    setting: str = ""
    setting_zh: str = ""
    questions: list[Question] = field(default_factory=list)


@dataclass(slots=True)
class Statement:
    """One statement that ran. If it yields, it is an event as well.

    run: the user's sentence, counted from 1; turn: the turn of that run, 0 before the first.
    file, line: where the statement begins, a name among the recording's sources.
    value: what decided a branch or a loop: "True", "False", the turn that a `for` gives, the type
        of the event that an `async for` gives, the error that an `except` takes, "end" when a loop
        has nothing more to give.
    event: the type of the event, or "". detail: it in a few words. call_id: the call it is about.
    ask: which of the recording's asks is that of this turn, once the model has been asked.
    ending: why the run ended, at its last statement.
    at: the microseconds since the recording began, for an event.
    """

    run: int
    turn: int
    file: str
    line: int
    value: str = ""
    event: str = ""
    detail: str = ""
    call_id: str | None = None
    ask: int | None = None
    ending: str = ""
    at: int = 0


@dataclass(slots=True)
class Moment(Statement):
    """A statement, and how things stand when the next one begins.

    After a statement that yields, people have seen the event. A statement that calls a function
    which is followed too is one moment, and the moments of that function come behind it.

    history: which of the recording's histories is the one that the model would see.
    screen: how many characters are on the terminal.
    disk: which of the recording's disks is the session file.
    """

    history: int = 0
    screen: int = 0
    disk: int = 0


@dataclass(slots=True)
class Head:
    """What a recording is of.

    what: "demo", "scene", "sentence" or "chat". title: what tells it from the one beside it.
    started: seconds since 1970. cause: what was changed in the step, if something was.
    """

    step: str
    what: str = "demo"
    title: str = ""
    started: int = 0
    cause: Cause | None = None


@dataclass(slots=True)
class Recording(Head):
    """A conversation: its moments, and what they count and point into.

    sources: the text of each file that was followed, as it ran, by its name within the step.
    messages: all that there ever were; a history is a list of places among them.
    lines: all that ever were in a session file; a disk is a list of places among them.
    """

    sources: dict[str, str] = field(default_factory=dict)
    tools: list[Tool] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    histories: list[list[int]] = field(default_factory=lambda: [[]])
    lines: list[Line] = field(default_factory=list)
    disks: list[list[int]] = field(default_factory=lambda: [[]])
    moments: list[Moment] = field(default_factory=list)
    screen: str = ""

    def history_at(self, moment: Moment) -> list[Message]:
        """Return the messages that the model would see at a moment."""
        return [self.messages[place] for place in self.histories[moment.history]]

    def first_sentence(self) -> str:
        """Return what the user said first."""
        return next((message.text for message in self.messages if message.role == "user"), "")
