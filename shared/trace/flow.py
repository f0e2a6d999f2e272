"""The control flow of a loop, from its syntax tree: a box for each statement, and their order.

The loop is `run_agent_loop`, or `run_loop` where a step has that. The `async` functions of its file
that it calls by name, and those that they call, belong to it. What it calls in other files is one
statement, whatever goes on there.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

LOOPS = ("run_loop", "run_agent_loop")
LONGEST_TEXT = 44  # characters of a box

# The four reasons to stop, as the chapter counts them, and those that are none of the loop's own.
NO_TOOL = "no tool wanted"
FAILED = "the model failed"
NO_LAST_EVENT = "no last event"
LIMIT = "turns used up"
STOPPED = "stopped after its tools"
INTERRUPTED = "interrupted"
RAISED = "an exception left the loop"
OUTSIDE = "an exception outside the loop"

Function = ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Box:
    """One statement, or the head of one. `kind` is loop, ask, if, event, do or out.

    An ask opens a stream, an event is a `yield`, an out leaves the function. What lights up is
    `line` to `end`; `body` is the lines that run if the head lets them, None where there are none
    or where they begin in the same line. `target` is the name that the head gives a value.
    """

    kind: str
    text: str
    file: str
    function: str
    line: int
    end: int
    depth: int
    body: range | None = None
    target: str = ""


@dataclass(slots=True)
class Flow:
    """The boxes in the order of their source, and the edges between them, by number."""

    boxes: list[Box] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)

    def after(self, number: int) -> list[int]:
        return [end for start, end in self.edges if start == number]

    def box_at(self, file: str, line: int) -> int | None:
        """Return the box of the statement that a line belongs to; `try:` and comments have none."""
        here = [
            number
            for number, box in enumerate(self.boxes)
            if box.file == file and box.line <= line <= box.end
        ]
        return max(here, key=lambda number: self.boxes[number].line, default=None)


def flow_of(sources: Mapping[str, str]) -> Flow:
    """Return the control flow of the loop in some sources; without boxes if there is none."""
    flow = Flow()
    for file, function in followed(sources):
        FlowReader(flow, file, function.name).block(function.body, 0, [])
    return flow


def followed(sources: Mapping[str, str]) -> list[tuple[str, Function]]:
    """Return the loop, and the functions that belong to it, each with the name of its file."""
    modules = [
        {node.name: (file, node) for node in parsed(source) if isinstance(node, Function)}
        for file, source in sources.items()
    ]
    homes = ((loop, module) for loop in LOOPS for module in modules if loop in module)
    loop, known = next(homes, ("", {}))
    found: dict[str, tuple[str, Function]] = {}
    waiting = [loop]
    while waiting:
        name = waiting.pop(0)
        if name in known and name not in found:
            found[name] = known[name]
            waiting += called_names(known[name][1])
    return list(found.values())


def parsed(source: str) -> list[ast.stmt]:
    """Return the statements of a module; none if it is not Python."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def called_names(function: Function) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


class FlowReader:
    """Reads statements one after the other; `ends` are the boxes from which the next one comes."""

    def __init__(self, flow: Flow, file: str, function: str) -> None:
        self.flow, self.file, self.function = flow, file, function
        self.loops: list[tuple[int, list[int]]] = []  # The head of each loop, and its breaks.

    def block(self, body: Iterable[ast.stmt], depth: int, ends: list[int]) -> list[int]:
        for node in body:
            ends = self.statement(node, depth, ends)
        return ends

    def statement(self, node: ast.stmt, depth: int, ends: list[int]) -> list[int]:
        match node:
            case ast.For() | ast.AsyncFor():
                head = f"{'async ' if isinstance(node, ast.AsyncFor) else ''}for"
                text = f"{head} {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
                return self.loop(node, text, node.iter, depth, ends)
            case ast.While():
                return self.loop(node, f"while {ast.unparse(node.test)}", node.test, depth, ends)
            case ast.If():
                return self.choice(node, "if", depth, ends)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                text = ", ".join(asked(item.context_expr) for item in items)
                last = items[-1].optional_vars or items[-1].context_expr
                ends = self.add("ask", text, node, depth, ends, head=last, body=node.body)
                return self.block(node.body, depth + 1, ends)
            case ast.Try():
                return self.attempt(node, depth, ends)
            case ast.Match():
                return self.cases(node, depth, ends)
            case ast.Return() | ast.Raise():
                self.add("out", text_of(node), node, depth, ends)
                return []
            case ast.Break() if self.loops:
                self.loops[-1][1].extend(self.add("do", "break", node, depth, ends))
                return []
            case ast.Continue() if self.loops:
                (here,) = self.add("do", "continue", node, depth, ends)
                self.flow.edges.append((here, self.loops[-1][0]))
                return []
            case ast.Expr(value=ast.Yield()) | ast.Assign(value=ast.Yield()):
                return self.add("event", text_of(node), node, depth, ends)
            case ast.Expr(value=ast.Constant()) | ast.Global() | ast.Nonlocal():
                return ends  # Nothing that runs.
            case ast.AnnAssign(value=None):
                return ends
        return self.add("do", text_of(node), node, depth, ends)

    def loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        text: str,
        head: ast.expr,
        depth: int,
        ends: list[int],
    ) -> list[int]:
        target = "" if isinstance(node, ast.While) else ast.unparse(node.target)
        here = self.add("loop", text, node, depth, ends, head=head, body=node.body, target=target)
        self.loops.append((here[0], []))
        for end in self.block(node.body, depth + 1, here):
            self.flow.edges.append((end, here[0]))
        breaks = self.loops.pop()[1]
        for_ever = isinstance(node, ast.While) and ast.unparse(node.test) in ("True", "1")
        return ([] if for_ever else self.block(node.orelse, depth + 1, here)) + breaks

    def choice(self, node: ast.If, word: str, depth: int, ends: list[int]) -> list[int]:
        text = f"{word} {ast.unparse(node.test)}"
        here = self.add("if", text, node, depth, ends, head=node.test, body=node.body)
        inside = self.block(node.body, depth + 1, here)
        match node.orelse:
            # An `elif` is the same node as an `if` alone in an `else`, but stands further left.
            case [ast.If(col_offset=column) as other] if column == node.col_offset:
                return inside + self.choice(other, "elif", depth, here)
        return inside + self.block(node.orelse, depth + 1, here)

    def attempt(self, node: ast.Try, depth: int, ends: list[int]) -> list[int]:
        """Read a `try`: each of its statements may fail, and all lead to its `finally`."""
        first = len(self.flow.boxes)
        ends = self.block(node.body, depth + 1, ends)
        tried = list(range(first, len(self.flow.boxes)))
        ends = self.block(node.orelse, depth + 1, ends)
        for handler in node.handlers:
            name = f" {ast.unparse(handler.type)}" if handler.type else ""
            text = f"except{name}{f' as {handler.name}' if handler.name else ''}"
            here = self.add(
                "if",
                text,
                handler,
                depth,
                tried,
                head=handler.type,
                body=handler.body,
                target=handler.name or "",
            )
            ends = ends + self.block(handler.body, depth + 1, here)
            tried = here
        if node.finalbody:
            ends = list(range(first, len(self.flow.boxes)))
        return self.block(node.finalbody, depth + 1, ends)

    def cases(self, node: ast.Match, depth: int, ends: list[int]) -> list[int]:
        text = f"match {ast.unparse(node.subject)}"
        here = self.add("do", text, node, depth, ends, head=node.subject)
        found: list[int] = []
        for case in node.cases:
            guard = f" if {ast.unparse(case.guard)}" if case.guard else ""
            text = f"case {ast.unparse(case.pattern)}{guard}"
            head = case.guard or case.pattern
            here = self.add("if", text, case.pattern, depth + 1, here, head=head, body=case.body)
            found += self.block(case.body, depth + 2, here)
            if is_certain(case):
                return found
        return found + here

    def add(
        self,
        kind: str,
        text: str,
        node: ast.stmt | ast.pattern | ast.ExceptHandler,
        depth: int,
        ends: list[int],
        *,
        head: ast.expr | ast.pattern | None = None,
        body: list[ast.stmt] | None = None,
        target: str = "",
    ) -> list[int]:
        """Add a box that follows `ends`. Of a compound statement only its head lights up."""
        number = len(self.flow.boxes)
        last = (head or node).end_lineno if head or not body else node.lineno
        end = last or node.lineno
        inside = None
        if body and body[0].lineno > end:
            inside = range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1)
        here = (self.file, self.function, node.lineno, end, depth, inside, target)
        self.flow.boxes.append(Box(kind, cut(text), *here))
        self.flow.edges += [(start, number) for start in dict.fromkeys(ends)]
        return [number]


def is_certain(case: ast.match_case) -> bool:
    """Return whether a case takes whatever is left."""
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and not case.pattern.pattern


def asked(expression: ast.expr) -> str:
    """Return what a `with` opens, without the wrapper that closes it."""
    match expression:
        case ast.Call(args=[ast.Call() as inner, *_]):
            return ast.unparse(inner)
    return ast.unparse(expression)


def text_of(node: ast.stmt) -> str:
    """Return a statement in a few words: a long call without its arguments, no annotation."""
    match node:
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return f"{ast.unparse(target)} = {ast.unparse(value)}"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return f"def {name}"
    text = ast.unparse(node).partition("\n")[0]
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if len(text) > LONGEST_TEXT and calls:
        return text.replace(ast.unparse(calls[0]), f"{ast.unparse(calls[0].func)}(…)")
    return text


def cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def ending_of(flow: Flow, file: str, line: int, event: str) -> str:
    """Return which of the four reasons ended a run, from its last event and the line of that.

    In a step with `run_loop` that is the last one before the ends of the turn and of the run.
    """
    if event in ("tool_result", "message_end"):
        return STOPPED
    number = flow.box_at(file, line)
    words = "" if number is None else flow.boxes[number].text.removeprefix("yield ")
    if event == "error":
        return FAILED if words.isidentifier() else LIMIT
    return NO_LAST_EVENT if words.isidentifier() and event != "done" else NO_TOOL
