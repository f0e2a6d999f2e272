"""The boundary of the working directory: a tool stays inside, whatever path it is given."""

from pathlib import Path


def resolve_inside(cwd: Path, path: str) -> Path | None:
    """Return where `path` leads once its links are followed, or None if that is outside `cwd`.

    Whole names are compared: /work does not contain /workspace-secret. Every tool that touches
    files has to ask here.
    """
    root = cwd.resolve()
    target = (root / path).resolve()
    return target if target.is_relative_to(root) else None
