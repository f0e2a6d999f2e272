"""The demo: the script below, answered. Its transcript is pinned in expected_output.txt."""

from pathlib import Path

from .harness_types import Context
from .main import chat
from .terminal import quiet_end, shown_lines, use_utf8

SCRIPT = [
    "读一下 note.txt",
    "故意写错参数试试",
    "读一下 ../../../etc/hosts",
    "帮我算 1 除以零",
    "/exit",
]


def run_demo() -> Context:
    """Print the transcript and return the context that it leaves behind."""
    use_utf8()
    print("Mini Agent Harness · step05 tools（demo）")
    print()
    return chat(shown_lines(SCRIPT), cwd=Path(__file__).parent)


if __name__ == "__main__":
    with quiet_end():
        run_demo()
