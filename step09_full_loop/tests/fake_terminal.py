"""A terminal that nobody sits at."""

import io


class FakeTerminal(io.StringIO):
    """Stands in for a stream that has a terminal at its other end."""

    def isatty(self) -> bool:
        return True
