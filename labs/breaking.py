"""`make break`: predict what a change does, then see it, in a copy."""

import difflib
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shared.child import ChildError
from shared.errors import UsageError
from shared.screen import show, visible, wrapped
from shared.shipped import Shipped
from shared.watching import Run

from .breaks import Break, Question, apply_break, find_break, find_breaks, pinned_run, run_scene
from .language import say
from .tasks import labs_folder

LONGEST_LIST = 6  # faults shown
YES = ("y", "yes", "是", "对", "会", "能", "有")
NO = ("n", "no", "否", "不", "没", "无")


def break_it(step: Path, name: str) -> int:
    """Ask for a prediction, play a broken copy, and show what the change does; without name, list.

    The copy is one of the step as it was shipped, whatever the reader has changed.
    """
    if not name:
        return list_breaks(step)
    change = find_break(step, name)
    intact = pinned_run(labs_folder(step), change.scene)
    edit, run = broken(change)
    print("\n".join(announced(change, edit)))
    predictions = [predicted(question) for question in change.questions]
    file, _, test = change.test.partition("::")
    lines = [
        *consequences(run, intact),
        "",
        wrapped(str(change.why)),
        say("The test that sees it, in {file}:", file=f"{step.name}/tests/{file}"),
        f"  {test}",
        "",
        *answers(change.questions, predictions),
    ]
    show("".join(f"{line}\n" for line in lines))
    return 0


def list_breaks(step: Path) -> int:
    """Print the catalogue of a step."""
    breaks = find_breaks(step)
    width = max(map(len, breaks))
    for change in breaks.values():
        print(f"  {change.name:{width}}  {change.title}")
    command = f"make break STEP={step.name[4:6]} NAME={next(iter(breaks))}"
    print()
    print(say("To break one of them, in a copy: {command}", command=command))
    return 0


def broken(change: Break) -> tuple[list[str], Run]:
    """Break a copy and play it; return the change as a diff, and what the copy leaves."""
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = folder / change.step / change.file
            Shipped(change.step).copy_to(folder)
            before = file.read_text("utf-8")
            apply_break(change, folder / change.step)
            edit = list(diff(before, file.read_text("utf-8")))
            return edit, run_scene(change.step, change.scene, folder)
    except ChildError as error:
        text = say("{step} does not run: {error}", step=change.step, error=error)
    except OSError as error:
        text = say("no copy can be made: {error}", error=error)
    raise UsageError(text)


def announced(change: Break, edit: list[str]) -> list[str]:
    """Return what a reader has to know before predicting anything."""
    setting = change.setting or say("the demo")
    return [
        f"{change.step}/{change.file}",
        *edit,
        "",
        wrapped(say("What is played: {setting}", setting=setting)),
    ]


def predicted(question: Question) -> str:
    """Ask on a terminal; Enter skips. Elsewhere nobody is asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ""
    try:
        return input(f"\n{wrapped(str(question.ask))} ").strip()
    except EOFError:
        return ""


def answers(questions: list[Question], predictions: list[str]) -> Iterator[str]:
    """Give each question with what was said, and with what happened."""
    yield say("Your prediction, and what happened:")
    for question, said in zip(questions, predictions, strict=True):
        yield wrapped(str(question.ask), "  ")
        if said:
            right = say("   (right)") if is_right(said, question) else ""
            yield wrapped(say("you: {said}", said=visible(said)) + right, "    ")
        yield wrapped(say("it:  {answer}", answer=question.answer), "    ")


def is_right(said: str, question: Question) -> bool:
    """Return whether a prediction says the answer, in either language, perhaps with more."""
    said = said.casefold()
    answer = question.answer
    if answer.en in ("yes", "no"):
        return yes_or_no(said) == answer.en
    words = [answer.en, answer.zh, *question.also]
    return any(says(said, word.casefold()) for word in words)


def yes_or_no(said: str) -> str:
    """Return "yes", "no", or nothing, by how the words begin: 不是 is no, whatever follows."""
    first = re.match(r"\s*([a-z]+|.?)", said)
    word = first[1] if first else ""
    return "no" if word in NO else "yes" if word in YES else ""


def says(said: str, word: str) -> bool:
    """Return whether `word` is said as a word, and not as a part of another one, as 8 of 18."""
    inside = "[a-z0-9_零一二三四五六七八九十百]"
    return bool(re.search(rf"(?<!{inside}){re.escape(word)}(?!{inside})", said))


def consequences(run: Run, intact: Run) -> Iterator[str]:
    """Give what the change does to both channels, as diffs against the intact step."""
    yield ""
    yield say("(- as it was shipped, + broken)")
    for heading, before, after in (
        (say("what people see"), intact.transcript, run.transcript),
        (say("what the model sees"), intact.history, run.history),
    ):
        yield from ("", f"== {heading} ==")
        yield from list(diff(before, after)) or [say("the same")]
    if run.faults:
        yield from ("", f"== {say('what is wrong with this history')} ==")
        yield from run.faults[:LONGEST_LIST]
        if len(run.faults) > LONGEST_LIST:
            yield "..."


def diff(before: str, after: str) -> Iterator[str]:
    """Give the lines that go and come, with some around them, each as it fits the terminal."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    for line in list(lines)[2:]:  # The first two would name the files.
        yield "..." if line.startswith("@@") else wrapped(visible(line[1:]), line[0]) or line
