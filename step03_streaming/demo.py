"""The demo: the script below, answered. Its transcript is pinned in expected_output.txt."""

from .harness_types import Context
from .main import chat
from .terminal import quiet_end, shown_lines, use_utf8

SCRIPT = ["你好", "说到一半断线试试", "帮我算 12*8", "/exit"]


def run_demo() -> Context:
    """Print the transcript and return the context that it leaves behind."""
    use_utf8()
    print("Mini Agent Harness · step03 streaming（demo）")
    print()
    return chat(shown_lines(SCRIPT))


if __name__ == "__main__":
    with quiet_end():
        run_demo()
