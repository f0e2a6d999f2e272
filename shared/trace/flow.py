"""The control flow of a loop, from its syntax tree: what it does in which order, what leads out."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

LOOP = "run_agent_loop"

# The four reasons to stop, as the chapter counts them.
NO_TOOL = "no tool wanted"
FAILED = "the model failed"
NO_LAST_EVENT = "no last event"
LIMIT = "turns used up"


@dataclass(frozen=True, slots=True)
class Box:
    """One thing that the loop does. `kind` is loop, ask, event, do or out."""

    kind: str
    text: str
    line: int
    end: int
    depth: int


def loop_function(source: str) -> ast.AsyncFunctionDef:
    """Return the syntax tree of the loop in a module's source."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == LOOP:
            return node
    raise ValueError(f"there is no {LOOP} in this source")


def boxes(source: str) -> list[Box]:
    """Return what the loop does, in the order of its source."""
    return list(boxes_of(loop_function(source).body, 0))


def boxes_of(body: list[ast.stmt], depth: int) -> Iterator[Box]:
    for node in body:
        match node:
            case ast.For(target=target, iter=values):
                yield box(
                    "loop", f"for {ast.unparse(target)} in {ast.unparse(values)}", node, depth
                )
                yield from boxes_of(node.body, depth + 1)
            case ast.AsyncWith(items=[ast.withitem(context_expr=ast.Call(args=[call, *_]))]):
                yield box("ask", ast.unparse(call), node, depth)
                yield from boxes_of(node.body, depth)
            case ast.AsyncFor():
                yield from boxes_of(node.body, depth + 1)
            case ast.If(test=test):
                if isinstance(node.body[-1], ast.Return):
                    yield from boxes_of(node.body[:-1], depth + 1)
                    yield box("out", f"if {ast.unparse(test)}: return", node.body[-1], depth + 1)
                yield from boxes_of(node.orelse, depth)
            case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                yield box("event", f"yield {short(value)}", node, depth)
            case ast.Assign(value=ast.Await(value=value)) | ast.Expr(value=ast.Call() as value):
                yield box("do", short(value), node, depth)


def box(kind: str, text: str, node: ast.stmt, depth: int) -> Box:
    end = node.lineno if kind in ("loop", "ask") else node.end_lineno or node.lineno
    return Box(kind, text, node.lineno, end, depth)


def short(value: ast.expr) -> str:
    """Return an expression in a few words: a call with many arguments without them."""
    text = ast.unparse(value)
    if isinstance(value, ast.Call) and len(text) > 40:
        return f"{ast.unparse(value.func)}(…)"
    return text


def statement_at(source: str, line: int) -> Box:
    """Return the box that a line of the source belongs to: there the loop stands suspended."""
    return next(b for b in boxes(source) if b.kind == "event" and b.line <= line <= b.end)


def way_out(source: str, line: int, event: str) -> str:
    """Return which of the four reasons ended a run whose last event came from `line`."""
    forwarded = isinstance(yielded_at(source, line), ast.Name)
    if event == "error":
        return FAILED if forwarded else LIMIT
    return NO_LAST_EVENT if forwarded else NO_TOOL


def yielded_at(source: str, line: int) -> ast.expr | None:
    for node in ast.walk(loop_function(source)):
        if isinstance(node, ast.Yield) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return node.value
    return None
