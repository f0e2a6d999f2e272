"""The tools by name."""

from .gate import schema_faults
from .tool_types import ToolDefinition, ToolSpec


class ToolRegistry:
    """Holds the tools; the name is all that the model has to address one."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolDefinition] = {}

    def register(self, tool: ToolDefinition) -> None:
        """Add a tool; ValueError if its name is taken, or if its schema cannot be checked.

        A wrong argument is the model's mistake and goes back to it. These two are a programmer's
        mistakes, and they should be loud and early.
        """
        if tool.name in self._tools:
            raise ValueError(f"there is a tool named {tool.name!r} already")
        if faults := schema_faults(tool.parameters):
            raise ValueError(f"the schema of the tool {tool.name!r}: {'; '.join(faults)}")
        self._tools[tool.name] = tool

    def get(self, name: str) -> ToolDefinition | None:
        """Return the tool of that name, or None if there is none."""
        # A model can make up anything, also a name that is no text.
        return self._tools.get(name) if isinstance(name, str) else None

    def specs(self) -> list[ToolSpec]:
        """Return what the model is told of each tool: plain data, without the code."""
        return [ToolSpec(t.name, t.description, t.parameters) for t in self._tools.values()]

    def names(self) -> list[str]:
        """Return the names in the order of registration."""
        return list(self._tools)
