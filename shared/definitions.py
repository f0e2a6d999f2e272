"""The definitions of a module, from its syntax tree: comments and layout do not count."""

import ast
import difflib
from pathlib import Path

from .language import say


class NotPythonError(Exception):
    """A file that cannot be read as Python; the text says why, in one line."""


def definitions(path: Path) -> dict[str, str]:
    """Return the code of every function, class and constant on the top level, by name.

    A file that does not exist has none. NotPythonError if a file is something else.
    """
    if not path.exists():
        return {}
    found: dict[str, str] = {}
    try:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
    except SyntaxError as error:
        raise NotPythonError(
            say("not Python, see line {line}: {reason}", line=error.lineno or 1, reason=error.msg)
        ) from None
    except UnicodeDecodeError:
        raise NotPythonError(say("not Python, since it is not UTF-8")) from None
    except (ValueError, RecursionError, MemoryError) as error:  # A null byte; nested too deep.
        raise NotPythonError(say("not Python: {reason}", reason=error)) from None
    for node in tree.body:
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
