"""The tool todo of a reader: alone with a file, in a run of the loop and beside other calls."""

import asyncio
import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, Verdict, not_yet
from .in_batches import Batch

ITEMS = ("买票", "收拾行李", "出发")


class List:
    """A folder with a list, and a run of the loop that may change it."""

    def __init__(self, package: str, folder: Path, *items: str) -> None:
        self.file = folder / "todo.txt"
        self.write(*items)
        self.batch = Batch(package, folder)
        self.tool = todo_of(package)
        self.batch.registry.register(self.tool)

    def write(self, *items: str) -> None:
        text = "".join(f"{item}\n" for item in items)
        self.file.write_text(text, encoding="utf-8", newline="\n")

    @property
    def text(self) -> str:
        return self.file.read_text("utf-8")

    def strike(self, *items: str, more: tuple[Any, ...] = ()) -> list[Any]:
        """Strike items off in one answer, and return the results."""
        calls = [self.batch.call(f"t{n}", "todo", done=item) for n, item in enumerate(items)]
        self.batch.run(*calls, *more)
        return [m for m in self.batch.context.messages if m.role == "toolResult"]


def todo_of(package: str) -> Any:
    file = Path(package, "todo.py")
    if not file.exists():
        raise FoundError(not_yet(say("there is no {file}", file=file.as_posix())))
    module = importlib.import_module(f"{package}.todo")
    if getattr(getattr(module, "TODO", None), "name", None) != "todo":
        raise FoundError(
            not_yet(say("{file} has no ToolDefinition TODO named todo", file=file.as_posix()))
        )
    return module.TODO


def todo_verdict(package: str) -> Verdict | None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        return (
            parameters_verdict(todo_of(package))
            or one_item_verdict(List(package, folder, *ITEMS))
            or refused_verdict(List(package, folder, *ITEMS))
            or alone_verdict(List(package, folder, *ITEMS))
            or stopped_verdict(List(package, folder, *ITEMS))
            or last_verdict(package, folder)
        )


def parameters_verdict(tool: Any) -> Verdict | None:
    given = tool.parameters
    types = {name: one.get("type") for name, one in given.get("properties", {}).items()}
    if types == {"done": "string"} and given.get("required") == ["done"]:
        return None
    return not_yet(
        say("its parameters are others"),
        where=say("the types of its parameters, and which are required"),
        expected="{'done': 'string'} ['done']",
        seen=f"{types} {given.get('required', [])}",
    )


def one_item_verdict(todo: List) -> Verdict | None:
    results = todo.strike(ITEMS[1])
    if results[0].is_error:
        found, text = say("an item of the list is not struck off"), results[0].content[0].text
        return wrong(found, say("no error"), text)
    if todo.text != "买票\n出发\n":
        return wrong(say("the list is not as it should be"), "买票\n出发\n", todo.text)
    if todo.batch.steps != ["start t0", "update t0", "end t0"]:
        wanted, seen = "start t0, update t0, end t0", ", ".join(todo.batch.steps)
        return wrong(say("it does not tell its progress once before its end"), wanted, seen)
    if len(todo.batch.asked) != 2:
        return wrong(say("the run ends although the list is not empty"), "2", "1", how_often)
    return None


def refused_verdict(todo: List) -> Verdict | None:
    before = todo.text
    result = todo.strike("买")[0]
    if not result.is_error or todo.text != before:
        found = say("an item that is not in the list is no error, or changes the list")
        return wrong(found, before, todo.text)
    if "执行失败" in result.content[0].text:
        found = say("for an item that is not in the list it raises, and returns no ToolResult")
        return wrong(found, "ToolResult(…, is_error=True)", result.content[0].text)
    if "买" not in result.content[0].text:
        found = say("the error does not say which item is not in the list")
        return wrong(found, "… 买 …", result.content[0].text)
    if len(todo.batch.asked) != 2:
        return wrong(say("an error says terminate, so the run ends"), "2", "1", how_often)
    return None


def alone_verdict(todo: List) -> Verdict | None:
    """Call it beside a tool that looks whether anybody else is at work."""
    batch = todo.batch

    async def look() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    batch.tool("look", look)
    todo.strike(ITEMS[0], ITEMS[2], more=(batch.call("x", "look"),))
    wanted = [f"{kind} {one}" for one in ("t0", "t1") for kind in ("start", "update", "end")]
    wanted += ["start x", "end x"]
    if batch.steps != wanted:
        found = say("other calls of the answer run at the same time")
        return wrong(found, ", ".join(wanted), ", ".join(batch.steps))
    if todo.text != "收拾行李\n":
        return wrong(say("two items of one answer are not both gone"), "收拾行李\n", todo.text)
    return None


def stopped_verdict(todo: List) -> Verdict | None:
    """Cancel the run while it tells its progress."""
    before = todo.text
    cancel = importlib.import_module(f"{type(todo.tool).__module__.partition('.')[0]}.cancel")
    token = cancel.CancelToken()
    context = todo.batch.tool_types.ToolContext(todo.file.parent, token, lambda _: token.cancel())
    try:
        result = asyncio.run(todo.tool.execute({"done": ITEMS[0]}, context))
        is_error, terminate = result.is_error, result.terminate
    except cancel.StoppedError:
        is_error, terminate = True, False
    if todo.text != before:
        return wrong(say("it was cancelled, and writes all the same"), before, todo.text)
    if not is_error:
        return wrong(say("it was cancelled, and reports success"), "", "")
    return wrong(say("it was cancelled, and says terminate"), "", "") if terminate else None


def last_verdict(package: str, folder: Path) -> Verdict | None:
    """Strike off the last item, alone and beside a tool that does not end the run."""
    alone = List(package, folder, "出发")
    alone.strike("出发")
    if len(alone.batch.asked) != 1 or alone.text:
        found = say("with the last item gone, the model is asked again")
        return wrong(found, "1", str(len(alone.batch.asked)), how_often)
    twice = List(package, folder, "买票", "出发")
    twice.strike("买票", "出发")
    if len(twice.batch.asked) != 2:
        found = say("of two items only the last one may say terminate, so the model is asked again")
        return wrong(found, "2", str(len(twice.batch.asked)), how_often)
    return None


def wrong(found: str, wanted: str, seen: str, where: Callable[[], str] | None = None) -> Verdict:
    if not wanted and not seen:
        return not_yet(found)
    if "\n" in wanted:  # A line feed that is missing is seen like this only.
        wanted, seen = repr(wanted), repr(seen)
    place = where() if where else say("a list of three items, or of those that are left")
    return not_yet(found, where=place, expected=wanted, seen=seen)


def how_often() -> str:
    return say("how often the model is asked")
