"""The tools of this step, one idea a file."""

from .calc import CALC
from .read_file import READ_FILE
from .registry import ToolRegistry
from .run_command import RUN_COMMAND


def create_builtin_tools() -> ToolRegistry:
    """Return a new registry with the tools that come with the step."""
    registry = ToolRegistry()
    registry.register(CALC)
    registry.register(READ_FILE)
    registry.register(RUN_COMMAND)
    return registry
