"""What else was changed: everything in a step that none of its tasks asks for.

The list of what was shipped tells the definitions that read otherwise now. One that reads as it
did may still have been replaced while the program runs, from another module or by a file of the
same name; so what stands in the modules is compared with what stands in their files.
"""

import ast
import importlib
import inspect
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from shared.shipped import REST, Shipped

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
    """Give the functions and methods that are not those of the file in which they stand."""
    for path in shipped.files:
        if not path.endswith(".py") or path.startswith("tests/") or path in RUN_AS_MAIN:
            continue
        name = path.removesuffix(".py").replace("/", ".")
        module = importlib.import_module(f"{shipped.name}.{name}".removesuffix(".__init__"))
        source = Path.cwd() / shipped.name / path
        for node in ast.parse(source.read_text("utf-8-sig")).body:
            for function, value in functions_of(module, node):
                code = getattr(inspect.unwrap(value), "__code__", None)
                if code is None or (Path(code.co_filename), code.co_name) != (source, function):
                    yield f"{name}.{getattr(node, 'name', '')}"


def functions_of(module: ModuleType, node: ast.stmt) -> Iterator[tuple[str, Any]]:
    """Give what a module holds under the name of a function, or of each method of a class."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, getattr(module, name, None)
        case ast.ClassDef(name=name, body=body):
            held = vars(getattr(module, name, None) or object)
            for method in body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    value = held.get(method.name)
                    yield method.name, getattr(value, "__func__", getattr(value, "fget", value))
