"""What else was changed: everything in a step that none of its tasks asks for.

The list of what was shipped tells the definitions that read otherwise now. One that reads as it
did may still be replaced while the program runs, by another module or by a file in its place.
"""

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from shared.shipped import REST, Shipped, is_import

from .language import say
from .verdict import Verdict, not_yet

RUN_AS_MAIN = ("__main__.py", "demo.py")


def unasked_change(package: str, asked: Collection[str]) -> Verdict | None:
    """Name what was changed although it is not among `asked`, such as "demo.SCRIPT" or "rules.*".

    What a task asks for is judged by what it does, and not here.
    """
    shipped = Shipped(package, Path.cwd())
    changed = [name for name in shipped.changed_definitions() if not is_asked(name, asked)]
    changed += [name for name in replaced(shipped) if not is_asked(name, asked)]
    names = [in_words(shipped, name) for name in dict.fromkeys(changed)] + changed_data(shipped)
    if not names:
        return None
    return not_yet(
        say("you also changed {names}, and no task asks for that", names=", ".join(names[:4])),
        guess=say(
            "undo that change; make reset STEP={number} restores the whole step, and saves "
            "what you have first",
            number=package[4:6],
        ),
    )


def is_asked(name: str, asked: Collection[str]) -> bool:
    return name in asked or f"{name.rpartition('.')[0]}.*" in asked


def in_words(shipped: Shipped, name: str) -> str:
    """Return a definition as a reader looks for it: its name, and its file."""
    if (whole := f"{name.replace('.', '/')}.py") in shipped.files:
        return say("{file} (gone, or not Python any more)", file=whole)
    module, _, definition = name.rpartition(".")
    file = f"{module.replace('.', '/')}.py"
    if definition == REST:
        return say("the statements of {file} outside of functions", file=file)
    return say("{name} in {file}", name=definition, file=file)


def changed_data(shipped: Shipped) -> list[str]:
    """Return the files that a program reads and that are not as shipped, such as note.txt."""
    return [
        path
        for path in shipped.changed_files()
        if path in shipped.files
        and not path.startswith(("tests/", "expected_"))
        and not path.endswith((".py", ".md"))
    ]


def replaced(shipped: Shipped) -> Iterator[str]:
    """Give the definitions that hold a function from another file of the step than their own."""
    step = Path.cwd() / shipped.name
    for path, definitions in shipped.files.items():
        if not path.endswith(".py") or path.startswith("tests/") or path in RUN_AS_MAIN:
            continue
        name = path.removesuffix(".py").replace("/", ".")
        module = sys.modules.get(f"{shipped.name}.{name}".removesuffix(".__init__"))
        for definition, text in definitions.items():
            files = map(Path, files_of(getattr(module, definition, None)))
            if not is_import(text) and any(
                step in file.parents and file != step / path for file in files
            ):
                yield f"{name}.{definition}"


def files_of(value: object) -> Iterator[str]:
    """Give the files in which a function, or the methods of a class, are written."""
    for function in vars(value).values() if isinstance(value, type) else [value]:
        if code := getattr(function, "__code__", None):
            yield code.co_filename
