"""The control flow of a loop, from its syntax tree: what it does, and what can come after what."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

LOOP = "run_agent_loop"

# The four reasons to stop, as the chapter counts them.
NO_TOOL = "no tool wanted"
FAILED = "the model failed"
NO_LAST_EVENT = "no last event"
LIMIT = "turns used up"


@dataclass(frozen=True, slots=True)
class Box:
    """One thing that the loop does. `kind` is loop, ask, if, event, do or out.

    An event is a `yield`; an out is a way to leave, with the condition in front of it, if any.
    """

    kind: str
    text: str
    line: int
    end: int
    depth: int


@dataclass(slots=True)
class Flow:
    """The boxes of a loop in the order of its source, and the edges between them, by number."""

    boxes: list[Box] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)

    def after(self, number: int) -> list[int]:
        return [end for start, end in self.edges if start == number]

    def box_at(self, line: int) -> int | None:
        """Return the event at which a loop stands that is suspended in `line`."""
        for number, box in enumerate(self.boxes):
            if box.kind == "event" and box.line <= line <= box.end:
                return number
        return None

    def outs_after(self, number: int) -> list[int]:
        """Return the ways out that can be taken before anything else happens, in order."""
        found: set[int] = set()
        waiting, seen = [number], set()
        while waiting:
            for following in self.after(waiting.pop()):
                if following in seen or self.boxes[following].kind == "event":
                    continue
                seen.add(following)
                waiting.append(following)
                if self.boxes[following].kind == "out":
                    found.add(following)
        return sorted(found)


def flow_of(source: str) -> Flow:
    """Return the control flow of the loop in a module's source."""
    reader = FlowReader()
    reader.block(loop_function(source).body, 0, [])
    return reader.flow


def loop_function(source: str) -> ast.AsyncFunctionDef:
    for node in ast.parse(source).body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == LOOP:
            return node
    raise ValueError(f"there is no {LOOP} in this source")


class FlowReader:
    """Reads statements one after the other; `ends` are the boxes from which the next one comes."""

    def __init__(self) -> None:
        self.flow = Flow()
        self.breaks: list[list[int]] = []

    def block(self, body: Iterable[ast.stmt], depth: int, ends: list[int]) -> list[int]:
        for node in body:
            ends = self.statement(node, depth, ends)
        return ends

    def statement(self, node: ast.stmt, depth: int, ends: list[int]) -> list[int]:
        match node:
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(node, depth, ends)
            case ast.If():
                return self.choice(node, depth, ends)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for call in (item.context_expr for item in items):
                    if isinstance(call, ast.Call):
                        asked = call.args[0] if call.args else call
                        ends = self.add("ask", ast.unparse(asked), node, depth, ends)
                return self.block(node.body, depth, ends)
            case ast.Try():
                ends = self.block(node.body, depth, ends)
                caught = [e for h in node.handlers for e in self.block(h.body, depth + 1, ends)]
                return self.block([*node.orelse, *node.finalbody], depth, ends + caught)
            case ast.Match():
                return [e for case in node.cases for e in self.block(case.body, depth + 1, ends)]
            case ast.Return() | ast.Raise():
                self.add("out", ast.unparse(node).split("(")[0], node, depth, ends)
                return []
            case ast.Break() if self.breaks:
                self.breaks[-1] += self.add("do", "break", node, depth, ends)
                return []
            case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                return self.add("event", f"yield {short(value)}", node, depth, ends)
            case ast.Assign(value=ast.Await(value=value)) | ast.Expr(value=ast.Await(value=value)):
                return self.add("do", short(value), node, depth, ends)
            case ast.Expr(value=ast.Call() as value):
                return self.add("do", short(value), node, depth, ends)
        return ends

    def loop(
        self, node: ast.For | ast.AsyncFor | ast.While, depth: int, ends: list[int]
    ) -> list[int]:
        text = ast.unparse(node).partition("\n")[0].rstrip(":")
        head = self.add("loop", text, node, depth, ends)
        self.breaks.append([])
        for end in self.block(node.body, depth + 1, head):
            self.flow.edges.append((end, head[0]))
        for_ever = isinstance(node, ast.While) and ast.unparse(node.test) in ("True", "1")
        return ([] if for_ever else self.block(node.orelse, depth, head)) + self.breaks.pop()

    def choice(self, node: ast.If, depth: int, ends: list[int]) -> list[int]:
        test = f"if {ast.unparse(node.test)}"
        if isinstance(node.body[0], ast.Return):
            here = self.add("out", f"{test}: return", node, depth, ends, end=node.body[0].lineno)
            return self.block(node.orelse, depth, here)
        before = len(self.flow.boxes)
        here = self.add("if", test, node, depth, ends)
        inside = self.block(node.body, depth + 1, here)
        if len(self.flow.boxes) == before + 1:  # Nothing in it that would be shown.
            self.flow.boxes.pop()
            self.flow.edges = [edge for edge in self.flow.edges if before not in edge]
            return self.block(node.orelse, depth, ends)
        return inside + self.block(node.orelse, depth, here)

    def add(
        self,
        kind: str,
        text: str,
        node: ast.stmt,
        depth: int,
        ends: Sequence[int],
        end: int | None = None,
    ) -> list[int]:
        number = len(self.flow.boxes)
        last = node.end_lineno or node.lineno
        if kind in ("loop", "ask", "if"):
            last = node.lineno
        self.flow.boxes.append(Box(kind, text, node.lineno, end or last, depth))
        self.flow.edges += [(start, number) for start in dict.fromkeys(ends)]
        return [number]


def short(value: ast.expr) -> str:
    """Return an expression in a few words: a call with long arguments without them."""
    text = ast.unparse(value)
    if isinstance(value, ast.Call) and len(text) > 40:
        return f"{ast.unparse(value.func)}(…)"
    return text


def way_out(source: str, line: int, event: str) -> str:
    """Return which of the four reasons ended a run whose last event came from `line`."""
    forwarded = any(
        isinstance(node, ast.Yield)
        and isinstance(node.value, ast.Name)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(loop_function(source))
    )
    if event == "error":
        return FAILED if forwarded else LIMIT
    return NO_LAST_EVENT if forwarded else NO_TOOL
