"""The pages of the site as Markdown: those of the repository, and some made from its files."""

import os
import posixpath
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labs.breaks import Break, find_breaks
from labs.tasks import find_tasks, steps_with_tasks
from shared.step_diff import diff_text, is_aside, is_part
from shared.steps import ROOT, find_step, find_steps, step_before

LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)\s]+)(?=\))")
FENCE = "````"
# These changes show themselves where there are processes, signals and disks, and a tab has none.
NOT_IN_A_TAB = {
    "saved-at-the-end",
    "call-left-open",
    "call-1-again",
    "no-lock",
    "stops-at-a-bad-line",
    "full-disk-ends-it",
    "cancel-swallowed",
    "child-lives-on",
    "agreed-to-another",
}
# The checkers of these start processes, or the step needs a package for them.
TASKS_NOT_IN_A_TAB = {"06.2", "06.3", "06.4", "07.4", "08.3"}
AS_THEY_ARE = (".png", ".svg", "LICENSE")
NOT_A_STEP = ("README.md", "CONTRIBUTING.md", "docs/*.md", "shared/*/*.md", "labs/**/*.md")


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the site; `home` is where its pages stand, as seen from the whole site."""

    name: str
    home: str

    def __call__(self, english: str, chinese: str) -> str:
        return chinese if self.name == "zh" else english


ENGLISH, CHINESE = Language("en", ""), Language("zh", "zh/")


def write_pages(folder: Path, tongue: Language, traces: set[tuple[str, str]]) -> list[str]:
    """Write every page in one language into `folder`; return the navigation, as lines of TOML.

    `traces` are the runs that can be watched, each by its step and its name.
    """
    os.environ["LAB_LANG"] = tongue.name
    for page in pages_of_the_repository():
        write(folder, page, in_language(page, tongue), tongue)
    for step in find_steps().values():
        write(folder, f"{step.name}/source.md", source_page(step, tongue), tongue)
        if step != next(iter(find_steps().values())):
            write(folder, f"{step.name}/changes.md", changes_page(step, tongue), tongue)
    for step in steps_with_tasks():
        write(folder, f"labs/{step.name[:6]}/breaks.md", breaks_page(step, tongue, traces), tongue)
    return list(navigation(folder, tongue))


def pages_of_the_repository() -> list[str]:
    """Return the pages that somebody wrote, by their English names; tests have none to show."""
    found = [path for pattern in NOT_A_STEP for path in ROOT.glob(pattern)]
    found += [path for step in find_steps().values() for path in step.glob("*.md")]
    names = {path.relative_to(ROOT).as_posix() for path in found}
    return sorted(name for name in names if not name.endswith(".zh-CN.md"))


def in_language(page: str, tongue: Language) -> str:
    """Return a page of the repository; one that has no twin is English in both languages."""
    twin = ROOT / page.replace(".md", ".zh-CN.md")
    text = (twin if tongue.name == "zh" and twin.exists() else ROOT / page).read_text("utf-8")
    # Each page names its twin in its third line. Here a switch in the head does that.
    text = re.sub(r"\A(# .*\n\n)\[(?:中文|English)\]\([^)]*\)(?: · )?", r"\1", text)
    return with_links(page, text, tongue)


def with_links(page: str, text: str, tongue: Language) -> str:
    """Put under the title of a page what else there is about the same thing."""
    title, _, rest = text.partition("\n")
    links = list(links_of(page, tongue))
    if not links:
        return text
    buttons = " ".join(f"[{name}]({target}){{ .md-button }}" for name, target in links)
    return f"{title}\n\n{buttons}\n{rest}"


def links_of(page: str, tongue: Language) -> Iterator[tuple[str, str]]:
    step, number = folder_of_step(page), number_of(page)
    to_top = up(page, tongue)
    if page == "README.md":
        yield (
            tongue("Open the playground", "打开练习场"),
            f"{to_top}playground/{query(tongue, '04')}",
        )
    elif step and page == f"{step}/README.md":
        if plays(step):
            yield tongue("Playground", "练习场"), f"{to_top}playground/{query(tongue, number)}"
        yield tongue("Source", "源码"), "source.md"
        if number != min(name.name[4:6] for name in find_steps().values()):
            yield tongue("What changed", "改了什么"), "changes.md"
        if (ROOT / step / "agent_loop.py").exists():
            yield tongue("Watch the demo", "看它怎么转"), f"{to_top}traces/{number}/demo.html"
    elif re.fullmatch(r"labs/step\d\d/README\.md", page):
        yield tongue("Playground", "练习场"), f"{to_top}playground/{query(tongue, number)}"
        yield tongue("What can be broken", "可以拆坏什么"), "breaks.md"
    elif (task := re.fullmatch(r"labs/step\d\d/task(\d+)/worksheet\.md", page)) and (
        checked_in_a_tab(number, task[1])
    ):
        words = query(tongue, number, task=task[1])
        yield tongue("Do it in the playground", "在练习场里做"), f"{to_top}playground/{words}"


def query(tongue: Language, number: str, **more: str) -> str:
    words = {"lang": tongue.name, "step": number, **more}
    return "?" + "&".join(f"{name}={value}" for name, value in words.items())


def plays(step: str) -> bool:
    """Return whether a step runs in the playground: it needs nothing but the standard library."""
    return not (ROOT / step / "requirements.txt").exists()


def checked_in_a_tab(number: str, task: str) -> bool:
    """Return whether the checker of a task works in the playground."""
    step = find_step(number)
    return plays(step.name) and f"{number}.{task}" not in TASKS_NOT_IN_A_TAB


def folder_of_step(page: str) -> str:
    first = page.partition("/")[0]
    return first if re.fullmatch(r"step\d\d_\w+", first) else ""


def number_of(page: str) -> str:
    found = re.search(r"step(\d\d)", page)
    return found[1] if found else ""


def up(page: str, tongue: Language) -> str:
    """Return the way from a page to the top of the whole site, as an address."""
    depth = page.count("/") + (not page.endswith("README.md")) + tongue.home.count("/")
    return "../" * depth or "./"


def write(folder: Path, page: str, text: str, tongue: Language) -> None:
    target = folder / page
    target.parent.mkdir(parents=True, exist_ok=True)

    def fitted(match: re.Match[str]) -> str:
        return address(folder, page, match[1], tongue)

    target.write_text(LINK.sub(fitted, text), encoding="utf-8", newline="\n")


def address(folder: Path, page: str, link: str, tongue: Language) -> str:
    """Return where a link of a page leads on the site: a page, a picture, a file of a step."""
    name, sharp, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
    file = ROOT / path
    step = folder_of_step(path)
    if path.endswith(AS_THEY_ARE) and file.exists():
        if tongue.home:
            return f"{up(page, tongue)}{path}"  # It stands in the English half.
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / path)
    elif step and file.is_file() and not path.endswith(".md"):
        inside = posixpath.relpath(f"{step}/source.md", posixpath.dirname(page) or ".")
        return f"{inside}#{anchor_of(path.removeprefix(f'{step}/'))}"
    return f"{name.replace('.zh-CN.md', '.md')}{sharp}{anchor}"


def anchor_of(file: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", file.lower()).strip("-")


def source_page(step: Path, tongue: Language) -> str:
    """Return all files of a step that a reader compares, the loop first."""
    files = [file.relative_to(step) for file in sorted(step.rglob("*")) if file.is_file()]
    shown = [file for file in files if is_part(file) and not is_aside(file)]
    shown.sort(
        key=lambda file: (file.name not in ("run_loop.py", "agent_loop.py"), file.as_posix())
    )
    lines = ["---", "search:", "  exclude: true", "---", ""]
    lines += [f"# {step.name[:6]}: {tongue('source', '源码')}", ""]
    if tongue.home:
        # Code has no language: it stands in the English page, and site.js fetches it.
        there = f"{up(f'{step.name}/source.md', tongue)}{step.name}/source/"
        return "\n".join([*lines, f'<div data-same-as="{there}"><a href="{there}">源码</a></div>'])
    for file in shown:
        name = file.as_posix()
        kind = "python" if file.suffix == ".py" else "text"
        text = (step / file).read_text("utf-8").rstrip("\n")
        if text:
            lines += [f"## {name} {{ #{anchor_of(name)} }}", "", f"{FENCE}{kind}", text, FENCE, ""]
    return "\n".join(lines)


PARTS = {
    "files": ("Files", "文件", "text"),
    "definitions": ("Definitions", "定义", "text"),
    "text": ("Text", "逐行", "diff"),
    "transcript": ("Transcript of the demo", "demo 的输出", "diff"),
}


def changes_page(step: Path, tongue: Language) -> str:
    """Return what `make diff` says of a step, in its four parts."""
    before = step_before(step)
    head, *parts = re.split(r"^== (\w+) ==\n", diff_text(before, step), flags=re.MULTILINE)
    lines = ["---", "search:", "  exclude: true", "---", "", f"# {head.strip()}", ""]
    lines += [f"`make diff STEP={step.name[4:6]}`", ""]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        english, chinese, kind = PARTS[name]
        lines += [
            f"## {tongue(english, chinese)}",
            "",
            f"{FENCE}{kind}",
            text.strip("\n"),
            FENCE,
            "",
        ]
    return "\n".join(lines)


def breaks_page(step: Path, tongue: Language, traces: set[tuple[str, str]]) -> str:
    """Return the catalogue of a step: what each change takes away, and where to see it."""
    page = f"labs/{step.name[:6]}/breaks.md"
    title = tongue("what can be broken", "可以拆坏什么")
    lines = [f"# {step.name[:6]}: {title}", ""]
    for change in find_breaks(step).values():
        lines += [f"## {change.title} {{ #{change.name} }}", "", str(change.why), ""]
        watched = (step.name, change.name) in traces
        lines += [*edit(change), "", " ".join(links_of_break(page, change, tongue, watched)), ""]
    return "\n".join(lines)


def edit(change: Break) -> Iterator[str]:
    yield f'{FENCE}diff title="{change.file}"'
    for sign, text in (("-", change.old), ("+", change.new)):
        yield from (f"{sign}{line}" for line in text.strip("\n").split("\n") if text.strip("\n"))
    yield FENCE


def links_of_break(page: str, change: Break, tongue: Language, watched: bool) -> Iterator[str]:
    top, number = up(page, tongue), change.step[4:6]
    if plays(change.step) and change.name not in NOT_IN_A_TAB:
        words = query(tongue, number, **{"break": change.name})
        yield f"[{tongue('Break it', '拆坏它')}]({top}playground/{words}){{ .md-button }}"
    if watched:
        trace = f"{top}traces/{number}/{change.name}.html"
        yield f"[{tongue('See both runs', '看两次运行')}]({trace}){{ .md-button }}"


def navigation(folder: Path, tongue: Language) -> Iterator[str]:
    """Give the navigation: the steps in the order of the book, then the practice, then the rest."""
    yield f'{{ "{tongue("Home", "首页")}" = "README.md" }},'
    yield f'{{ "{tongue("Steps", "步骤")}" = ['
    for step in find_steps().values():
        yield f'  {{ "{step.name}" = ['
        yield from entries(
            folder, f"{step.name}/", ["README.md", "source.md", "changes.md"], tongue
        )
        yield "  ] },"
    yield "] },"
    yield f'{{ "{tongue("Practice", "练习")}" = ['
    for step in steps_with_tasks():
        tasks = [f"{task.folder.name}/worksheet.md" for task in find_tasks(step)]
        own = f"labs/{step.name[:6]}/"
        yield f'  {{ "{step.name[:6]}" = ['
        yield from entries(folder, own, ["README.md", *tasks, "breaks.md"], tongue)
        yield "  ] },"
    yield "] },"
    yield f'{{ "{tongue("About", "关于")}" = ['
    rest = [page for page in pages_of_the_repository() if number_of(page) == ""]
    yield from entries(folder, "", [page for page in rest if page != "README.md"], tongue)
    yield "] },"


def entries(folder: Path, own: str, pages: list[str], tongue: Language) -> Iterator[str]:
    names = {
        "source.md": tongue("Source", "源码"),
        "changes.md": tongue("What changed", "改了什么"),
    }
    for page in pages:
        if (folder / own / page).exists():
            title = names.get(page) or title_of(folder / own / page)
            yield f'    {{ "{title}" = "{own}{page}" }},'


def title_of(page: Path) -> str:
    """Return the heading of a page, as it goes between quotes."""
    found = re.search(r"^# (.*?)(?: \{.*)?$", page.read_text("utf-8"), re.MULTILINE)
    return (found[1] if found else page.stem).replace('"', "'").replace("`", "")
