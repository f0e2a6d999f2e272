"""A second way to see which statement runs: the loop rewritten, so that it says so itself.

It has nothing from the recorder. The tests compare what the two have seen.
"""

import ast
import importlib
import importlib.util
import sys
import types
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Visit:
    """A line that runs, what decided it, and how things stand just before it."""

    line: int
    messages: int
    screen: int
    value: str = ""


@dataclass(slots=True)
class Teller:
    """What the rewritten loop calls."""

    visits: list[Visit] = field(default_factory=list)
    context: Any = None

    def visit(self, line: int, error: Exception | None = None) -> None:
        visit = Visit(line, len(self.context.messages), sys.stdout.tell())
        visit.value = f"{type(error).__name__}: {error}" if error else ""
        self.visits.append(visit)

    def decide(self, value: object) -> object:
        self.visits[-1].value = str(bool(value))
        return value

    def each(self, line: int, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.visit(line)
            self.visits[-1].value = words(item)
            yield item
        self.visit(line)
        self.visits[-1].value = "end"

    async def aeach(self, line: int, items: AsyncIterable[Any]) -> AsyncIterator[Any]:
        iterator = aiter(items)
        while True:
            self.visit(line)
            here = self.visits[-1]
            try:
                item = await anext(iterator)
            except StopAsyncIteration:
                here.value = "end"
                return
            here.value = words(item)
            yield item


def words(item: Any) -> str:
    kind = getattr(item, "type", repr(item))
    return f"{item.id} {item.name}" if kind == "toolCall" else str(kind)


def replay(package: str, talk: Callable[[], object]) -> list[Visit]:
    """Let a step talk with its loop rewritten; return what ran, and last how things stand then."""
    # Who calls the loop, where it stands, and its name.
    caller, place, name = "main", "agent_loop", "run_agent_loop"
    if importlib.util.find_spec(f"{package}.run_loop") is not None:
        caller, place, name = "agent", "run_loop", "run_loop"
    main = importlib.import_module(f"{package}.{caller}")
    loop = importlib.import_module(f"{package}.{place}")
    tree = ast.parse(Path(str(loop.__file__)).read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef):
            node.body = list(told(node.body))
    teller = Teller()
    module = types.ModuleType(loop.__name__)
    module.__dict__.update(__package__=package, __file__=loop.__file__, teller=teller)
    exec(compile(ast.fix_missing_locations(tree), "<replay>", "exec"), module.__dict__)  # noqa: S102

    def start(**options: Any) -> Any:
        teller.context = options["context"]
        return vars(module)[name](**options)

    real = vars(main)[name]
    vars(main)[name] = start
    try:
        talk()
    finally:
        vars(main)[name] = real
    return teller.visits


def told(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Give statements, each behind a call that tells its line; a head tells its own."""
    for node in body:
        match node:
            case ast.For() | ast.AsyncFor():
                name = "aeach" if isinstance(node, ast.AsyncFor) else "each"
                node.iter = call(name, ast.Constant(node.lineno), node.iter)
            case ast.If() | ast.While():
                # visit() gives None, so that the test itself is what counts.
                here = ast.BoolOp(ast.Or(), [visit(node.lineno), node.test])
                node.test = call("decide", here)
            case ast.FunctionDef():
                yield from (ast.Expr(visit(node.lineno)), node)
                continue  # What stands in it runs in a frame of its own.
            case ast.Try() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                yield ast.Expr(visit(node.lineno))
        for handler in getattr(node, "handlers", []):
            caught = visit(handler.lineno, ast.Name(handler.name, ast.Load()))
            handler.body = [ast.Expr(caught), *told(handler.body)]
        for case in getattr(node, "cases", []):
            case.body = list(told(case.body))
        for part in ("body", "orelse", "finalbody"):
            if getattr(node, part, None):
                setattr(node, part, list(told(getattr(node, part))))
        yield node


def visit(line: int, *more: ast.expr) -> ast.Call:
    return call("visit", ast.Constant(line), *more)


def call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(
        ast.Attribute(ast.Name("teller", ast.Load()), name, ast.Load()), list(arguments), []
    )
