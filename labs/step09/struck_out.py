"""The tool todo of a reader: alone with a file, in a run of the loop and beside other calls."""

import asyncio
import importlib
import tempfile
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, Verdict, not_yet
from .in_batches import Batch

ITEMS = ("买票", "收拾行李", "出发")
RAISED = "工具执行失败"  # So begins the result of a tool that raises.


class List:
    """A folder with a list, and a run of the loop that may change it."""

    def __init__(self, package: str, folder: Path, *items: str) -> None:
        self.file, self.before = folder / "todo.txt", items
        self.struck: tuple[str, ...] = ()
        text = "".join(f"{item}\n" for item in items)
        self.file.write_text(text, encoding="utf-8", newline="\n")
        self.batch = Batch(package, folder)
        self.tool = todo_of(package)
        self.batch.registry.register(self.tool)

    @property
    def text(self) -> str:
        return self.file.read_text("utf-8")

    def strike(self, *items: str, more: tuple[Any, ...] = ()) -> list[Any]:
        """Strike items off in one answer, and return the results."""
        self.struck = items
        calls = [self.batch.call(f"t{n}", "todo", done=item) for n, item in enumerate(items)]
        self.batch.run(*calls, *more)
        results = [m for m in self.batch.context.messages if m.role == "toolResult"]
        for result in results:
            if result.content[0].text.startswith(RAISED):
                raise FoundError(self.raises(result.content[0].text))
        return results

    def raises(self, text: str) -> Verdict:
        found = say("the tool raises, or does not return a ToolResult")
        guess = say("return a ToolResult in any case; for an error, one with is_error=True")
        return not_yet(found, where=self.case, expected="ToolResult(…)", seen=text, guess=guess)

    @property
    def case(self) -> str:
        items, struck = " ".join(self.before) or say("(nothing)"), " ".join(self.struck)
        return say("in the list: {items}; to be struck off: {struck}", items=items, struck=struck)

    def wrong(self, found: str, wanted: str, seen: str) -> Verdict:
        return not_yet(found, where=self.case, expected=wanted, seen=seen)

    def file_verdict(self, found: str, *left: str) -> Verdict | None:
        """Tell it if the file holds anything else than the items that should be left."""
        wanted, seen = "".join(f"{item}\n" for item in left), self.text
        if seen == wanted:
            return None
        guess = say("the last line has no line feed") if f"{seen}\n" == wanted else ""
        where = say("todo.txt afterwards; {case}", case=self.case)
        return not_yet(found, where=where, expected=repr(wanted), seen=repr(seen), guess=guess)

    def asked_verdict(self, found: str, times: int) -> Verdict | None:
        """Tell it if the model is asked more or less often than it should be."""
        if len(self.batch.asked) == times:
            return None
        where = say("how often the model is asked; {case}", case=self.case)
        return not_yet(found, where=where, expected=str(times), seen=str(len(self.batch.asked)))


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
            or refused_verdict(List(package, folder))
            or alone_verdict(List(package, folder, *ITEMS))
            or stopped_verdict(List(package, folder, *ITEMS))
            or stopped_verdict(List(package, folder, ITEMS[0]))
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
    result = todo.strike(ITEMS[1])[0]
    if result.is_error:
        found = say("an item of the list is not struck off")
        return todo.wrong(found, say("no error"), result.content[0].text)
    if verdict := todo.file_verdict(say("the list is not as it should be"), ITEMS[0], ITEMS[2]):
        return verdict
    if todo.batch.steps != ["start t0", "update t0", "end t0"]:
        found = say("it does not tell its progress once before its end")
        return todo.wrong(found, "start t0, update t0, end t0", ", ".join(todo.batch.steps))
    return todo.asked_verdict(say("the run ends although the list is not empty"), 2)


def refused_verdict(todo: List) -> Verdict | None:
    result = todo.strike("买")[0]
    found = say("an item that is not in the list changes the list")
    if verdict := todo.file_verdict(found, *todo.before):
        return verdict
    if not result.is_error:
        found = say("an item that is not in the list is no error")
        return todo.wrong(found, say("an error"), result.content[0].text)
    if "买" not in result.content[0].text:
        found = say("the error does not say which item is not in the list")
        return todo.wrong(found, "… 买 …", result.content[0].text)
    return todo.asked_verdict(say("an error says terminate, so the run ends"), 2)


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
        return todo.wrong(found, ", ".join(wanted), ", ".join(batch.steps))
    return todo.file_verdict(say("two items of one answer are not both gone"), ITEMS[1])


def stopped_verdict(todo: List) -> Verdict | None:
    """Cancel the run while it tells its progress."""
    todo.struck = ITEMS[:1]
    cancel = importlib.import_module(f"{type(todo.tool).__module__.partition('.')[0]}.cancel")
    token = cancel.CancelToken()
    context = todo.batch.tool_types.ToolContext(todo.file.parent, token, lambda _: token.cancel())
    try:
        result = asyncio.run(todo.tool.execute({"done": ITEMS[0]}, context))
    except cancel.StoppedError:  # The loop makes an error of it, without terminate.
        result = todo.batch.tool_types.ToolResult("", is_error=True)
    except (Exception, asyncio.CancelledError) as error:
        return todo.raises(repr(error))
    if not isinstance(result, todo.batch.tool_types.ToolResult):
        return todo.raises(repr(result))
    found = say("it was cancelled, and writes all the same")
    if verdict := todo.file_verdict(found, *todo.before):
        return verdict
    if not result.is_error:
        found = say("it was cancelled, and reports success")
        return todo.wrong(found, "is_error=True", "is_error=False")
    if result.terminate:
        found = say("it was cancelled, and says terminate")
        return todo.wrong(found, "terminate=False", "terminate=True")
    return None


def last_verdict(package: str, folder: Path) -> Verdict | None:
    """Strike off the last item, alone and beside a tool that does not end the run."""
    alone = List(package, folder, ITEMS[2])
    alone.strike(ITEMS[2])
    found = say("with the last item gone, the model is asked again")
    if verdict := alone.asked_verdict(found, 1):
        return verdict
    if verdict := alone.file_verdict(say("the list is not as it should be")):
        return verdict
    twice = List(package, folder, ITEMS[0], ITEMS[2])
    twice.strike(ITEMS[0], ITEMS[2])
    found = say("of two items only the last one may say terminate, so the model is asked again")
    return twice.asked_verdict(found, 2)
