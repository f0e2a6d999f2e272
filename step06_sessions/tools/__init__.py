"""The tools of this step, one idea a file."""

from .calc import CALC
from .read_file import READ_FILE
from .registry import ToolRegistry


def create_builtin_tools() -> ToolRegistry:
    """Return a new registry with the tools that come with the step."""
    registry = ToolRegistry()
    registry.register(CALC)
    registry.register(READ_FILE)
    return registry
