"""The fourth task of step05: list_files, on folders with neighbours, links and odd names."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from shared.watching import step_folder, watch_chat

from ..conversation import rules_of
from ..language import say
from ..script_rules import first_for, named, unanswered
from ..verdict import Verdict, not_yet
from .gates import Step

OUTSIDE = "marker-of-the-outside.txt"
SENTENCE = "列出文件"
# Some of these names stand in a rule: a list of names must not be taken for something else.
INSIDE = ["apple.txt", "README.md", "note.txt", "你好.txt", "断线.txt", "除以零.txt"]
OUT = ["..", "../work-secret", "inner/../..", "door", "door/work-secret", "links/out", "/"]
# Whoever expands, decodes or cleans these after the check, or gives them to a shell, gets outside.
ODD = [
    "~",
    "$HOME",
    "${HOME}",
    "$(echo ..)",
    "`echo ..`",
    "a;ls ..",
    "a&&ls ..",
    " ..",
    ".. ",
    "%2e%2e",
    "%2e%2e%2fwork-secret",
    "..\\work-secret",
    "..\\..",
    "..\\\\..",
    "．．",
    "‥",
    r"\x2e\x2e",
    "&#46;&#46;",
    "[a]",
    "*",
    "?",
    "{a,b}",
    "-a",
    "-R",
    "two words",
    "it's",
    '"quoted"',
    '".."',
    "'..'",
    ". .",
    ".$.",
    ".*.",
    '."."',
]
# No folders: a pattern that matches one is none either.
MISSING = ["missing", "apple.txt", "inner*", "*", "?oor", "d*r", "doo[r]", "**", "~", "$HOME"]
MISSING += ["$(echo ..)", " ..", "..\\work-secret", "%2e%2e", "~root", "inner/missing", "x\0y"]
MISSING += ["%252e%252e", "....//", "....//work-secret", ".%00./"]
CUT = ("60", "20", "…", "...", "more", "更多", "还有", "其余", "等", "省略", "只显示", "截断")


def registered(package: str) -> Verdict | None:
    """Return whether there is a tool list_files with one parameter, path."""
    tools = Step(package).tools.create_builtin_tools()
    tool = tools.get("list_files")
    if tool is None:
        found = say("there is no tool list_files")
        if (step_folder(package) / "tools" / "list_files.py").exists():
            found = say("tools/list_files.py is there, but nothing of that name is registered")
        guess = say("create_builtin_tools in tools/__init__.py registers the tools")
        return not_yet(found, guess=guess)
    for name in ("calc", "read_file"):
        if tools.get(name) is None:
            return not_yet(say("{name} is not registered any more", name=name))
    properties = tool.parameters.get("properties", {})
    if list(properties) != ["path"] or properties["path"]["type"] != "string":
        return not_yet(
            say("list_files should take one parameter, path, which is a string"),
            where=say("its parameters"),
            expected="path",
            seen=json.dumps(properties, ensure_ascii=False),
        )
    if "path" not in tool.parameters.get("required", []):
        answer = Step(package).call("list_files", {}, Path())
        if answer.startswith("工具执行失败"):
            return not_yet(
                say("list_files may be called without path, and raises then"),
                where=say("its result"),
                expected="参数校验失败：缺少必填参数 path（出错）",
                seen=answer,
                guess=say('"required": ["path"] says that a call needs it'),
            )
    return None


def listing_verdict(package: str) -> Verdict | None:
    """Return what list_files does wrong, and what 「列出文件」 does."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        build(folder)
        home = {"HOME": str(folder / "home"), "USERPROFILE": str(folder / "home")}
        with mock.patch.dict(os.environ, home):
            listing = Listing(Step(package), folder)
            return next(listing.faults(), None) or next(said_faults(package, folder), None)


def build(folder: Path) -> None:
    """Make three working directories and what stands around them."""
    work = folder / "work"
    for path in (work / "inner" / "deep", work / "links", folder / "work-secret", folder / "home"):
        path.mkdir(parents=True)
    for path in (folder, folder / "work-secret", folder / "home"):
        (path / OUTSIDE).touch()
    for path in (*(work / name for name in INSIDE), work / "inner" / "pear.txt"):
        path.touch()
    with contextlib.suppress(OSError):  # Windows lets not everybody make links.
        (work / "door").symlink_to("..")
        (work / "links" / "out").symlink_to("../../work-secret")
        (work / "links" / "gone").symlink_to("../../work-absent")
        (work / "up").symlink_to("inner/deep")
    for number, name in enumerate(ODD):
        with contextlib.suppress(OSError):  # Windows refuses some names.
            (folder / "odd" / name).mkdir(parents=True)
            (folder / "odd" / name / f"own-{number:02}.txt").touch()
    (folder / "odd" / "a").mkdir()
    (folder / "odd" / "a" / "other.txt").touch()
    (folder / "many").mkdir()
    for name in many_names():
        (folder / "many" / name).touch()


def many_names() -> list[str]:
    return [f"file-{one}{two}.txt" for one in "abcdef" for two in "ghijklmnop"]


class Listing:
    """list_files of a step, asked for folders in and around `folder`."""

    def __init__(self, step: Step, folder: Path) -> None:
        self.step, self.folder = step, folder

    def answer(self, path: str, cwd: str = "work") -> str:
        return self.step.call("list_files", {"path": path}, self.folder / cwd)

    def faults(self) -> Iterator[Verdict]:
        before = Path.cwd()
        yield from self.not_listed(".", [*INSIDE, "inner"])
        yield from self.not_listed("inner", ["pear.txt", "deep"])
        yield from self.let_out()
        yield from self.not_missed()
        yield from self.told_apart()
        yield from self.taken_for_another()
        yield from self.cut_in_silence()
        if Path.cwd() != before:
            os.chdir(before)
            yield not_yet(say("list_files changes the current folder of the whole program"))

    def not_listed(self, path: str, names: list[str]) -> Iterator[Verdict]:
        answer = self.answer(path)
        where = say("the result of list_files {path}", path=repr(path))
        missing = [name for name in names if not stands_in(name, answer)]
        if answer.endswith("（出错）") and not missing:
            yield not_yet(
                say("list_files says that it failed, and yet gives the names"),
                where=where,
                expected=answer.removesuffix("（出错）"),
                seen=answer,
                guess=say("a ToolResult has is_error=True only for bad news"),
            )
        if answer.endswith("（出错）"):
            guess = say("a tool is an async function: async def list_files")
            yield not_yet(
                say("list_files fails on {path}", path=repr(path)),
                where=where,
                expected=" ".join(names),
                seen=answer,
                guess=guess if "await" in answer else "",
            )
        if missing:
            guess = say("context.cwd is the folder that the tool works in")
            yield not_yet(
                say("list_files leaves out {names}", names=" ".join(missing)),
                where=where,
                expected=" ".join(names),
                seen=answer,
                guess=guess if len(missing) > 2 else "",
            )

    def let_out(self) -> Iterator[Verdict]:
        """Ask for what lies outside, and for folders from which a link leads there."""
        paths = [*OUT, str(self.folder), str(self.folder / "work-secret"), "//"]
        for path in [*paths, ".", "inner", "up/../..", "up/..", "~/..", "$HOME/.."]:
            answer = self.answer(path)
            if OUTSIDE in answer:
                yield self.back_door(path, answer)
            if path in paths and not answer.endswith("（出错）"):
                yield not_yet(
                    say("list_files {path} leads outside, and is not refused", path=repr(path)),
                    where=say("its result"),
                    expected=f"拒绝访问工作目录之外的路径：{path}（出错）",
                    seen=answer,
                    guess=say("a refusal is a ToolResult with is_error=True"),
                )

    def back_door(self, path: str, answer: str) -> Verdict:
        guess = say("list only what resolve_inside of tools/inside.py returns: None is outside")
        if path in (".", "inner"):
            guess = say("do not look into the folders of a folder: a link may lead outside")
        elif path not in OUT:
            guess = say(
                "list the path that resolve_inside returns: change nothing in it, ask no shell"
            )
        return not_yet(
            say("list_files {path} shows what lies outside", path=repr(path)),
            where=say("its result"),
            expected=say("nothing of the outside"),
            seen=answer,
            guess=guess,
        )

    def not_missed(self) -> Iterator[Verdict]:
        for path in MISSING:
            if (self.folder / "work" / path).is_dir():
                continue  # Windows drops dots and blanks at the end of a name.
            answer = self.answer(path)
            if OUTSIDE in answer:
                yield self.back_door(path, answer)
            if not answer.endswith("（出错）"):
                yield not_yet(
                    say(
                        "list_files {path} is no error, though there is no such folder",
                        path=repr(path),
                    ),
                    where=say("its result"),
                    expected=say("an error"),
                    seen=answer,
                )

    def told_apart(self) -> Iterator[Verdict]:
        """Compare the answers for what is outside with those for what is not there at all."""
        pairs = [
            ("../work-secret", "../work-absent"),
            (f"../{OUTSIDE}", "../work-absent"),
            (f"{self.folder}/work-secret", f"{self.folder}/work-absent"),
            ("door/work-secret", "door/work-absent"),
            ("links/out", "links/gone"),
        ]
        for there, absent in pairs:
            answers = [self.answer(there), self.answer(absent)]
            if len({without_names(answer, there, absent) for answer in answers}) > 1:
                yield not_yet(
                    say("list_files tells whether something outside exists"),
                    where=say("its results for {there} and {absent}", there=there, absent=absent),
                    expected=answers[0],
                    seen=answers[1],
                    guess=say("ask resolve_inside first, and only then whether the folder exists"),
                )

    def taken_for_another(self) -> Iterator[Verdict]:
        """Ask for folders whose names mean something else to a shell, a pattern or a decoder."""
        for number, path in enumerate(ODD):
            own = f"own-{number:02}.txt"
            if not (self.folder / "odd" / path / own).exists():
                continue  # Windows has no such names.
            answer = self.answer(path, "odd")
            if OUTSIDE in answer:
                yield self.back_door(path, answer)
            if not answer.endswith("（出错）") and own not in answer:
                yield not_yet(
                    say(
                        "list_files {path} lists something else than the folder of that name",
                        path=repr(path),
                    ),
                    where=say("its result"),
                    expected=own,
                    seen=answer,
                    guess=say("a path is a name: no pattern, no shell, nothing to expand"),
                )

    def cut_in_silence(self) -> Iterator[Verdict]:
        answer, names = self.answer(".", "many"), many_names()
        listed = [name for name in names if name in answer]
        rest = answer
        for name in names:
            rest = rest.replace(name, "")
        if len(listed) < len(names) and not any(word in rest for word in CUT):
            yield not_yet(
                say(
                    "of {all} names list_files shows {some}, and does not say so",
                    all=len(names),
                    some=len(listed),
                ),
                guess=say("show all, or say how many there are, as read_file does"),
            )


def without_names(answer: str, *paths: str) -> str:
    """Return an answer without the words in which two questions differ."""
    for word in (*paths, OUTSIDE, "work-secret", "work-absent"):
        answer = answer.replace(word, "…")
    return answer


def stands_in(name: str, answer: str) -> bool:
    return name in answer or json.dumps(name)[1:-1] in answer


def said_faults(package: str, folder: Path) -> Iterator[Verdict]:
    """Say 「列出文件」 to the step, in a folder that holds names for which there are rules."""
    if unheard := unanswered(package, SENTENCE):
        yield unheard
    rules = rules_of(package)
    rule = first_for(rules, SENTENCE)
    if (rule.tool_call or {}).get("name") != "list_files":
        yield not_yet(
            say("「{sentence}」 does not reach list_files", sentence=SENTENCE),
            guess=say(
                "{rule} answers it: {call}", rule=named(rule), call=f"tool_call={rule.tool_call}"
            ),
        )
    answers = [first_for(rules, f"toolResult:list_files {text}") for text in ("x", *INSIDE)]
    if unheard := unanswered(package, "toolResult:list_files x"):
        yield unheard
    for name, rule in zip(INSIDE, answers[1:], strict=True):
        if rule is not answers[0]:
            yield not_yet(
                say(
                    "{rule} answers a list of names that holds {name}", rule=named(rule), name=name
                ),
                guess=say(
                    "the rule for toolResult:list_files stands before those that look for a name"
                ),
            )
    run = watch_chat(package, [SENTENCE], folder / "work")
    lines = [line for line in run.transcript.splitlines() if line.startswith("[工具结果]")]
    if (
        run.history.count("\n") != 4
        or "（出错）" in run.transcript
        or not stands_in("apple.txt", run.transcript)
    ):
        yield not_yet(
            say(
                "「{sentence}」 does not list the working directory in two turns", sentence=SENTENCE
            ),
            where=say("its call and its result"),
            expected='list_files {"path":"."} → apple.txt ...',
            seen=" ".join(lines) or run.transcript,
        )
