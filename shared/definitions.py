"""The definitions of a module, from its syntax tree: comments and layout do not count."""

import ast
import difflib
from pathlib import Path


def definitions(path: Path) -> dict[str, str]:
    """Return the code of every function, class and constant on the top level, by name.

    A file that does not exist has none.
    """
    if not path.exists():
        return {}
    found: dict[str, str] = {}
    text = path.read_text("utf-8")
    for node in ast.parse(text, str(path)).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found[name] = ast.unparse(node)
            case ast.ClassDef(name=name):
                found[name] = ast.unparse(node)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                # A table counts by the lines it is written in: unparsed it would be a single one.
                found[name] = ast.get_source_segment(text, node) or ""
    return found


def changed_lines(old: str, new: str) -> int:
    """Return how many lines of `old` have another text, or are gone or new, in `new`."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return sum(
        max(old_end - old_start, new_end - new_start)
        for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    )
