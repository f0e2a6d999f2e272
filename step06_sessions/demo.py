"""The demo: the program runs twice. Its transcript is pinned in expected_output.txt."""

import itertools
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from .harness_types import Context
from .main import chat
from .sessions.folder import latest_session, start_session
from .terminal import quiet_end, shown_lines, use_utf8

SCRIPT = [
    "帮我算 12*8",
    "/exit",  # The first run ends here.
    "刚才算的是多少",
    "/back 1",
    "读一下 note.txt",
    "/tree",
    "/exit",
]


def noon() -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def run_demo() -> Context:
    """Print the transcript and return the context that it leaves behind."""
    use_utf8()
    print("Mini Agent Harness · step06 sessions（demo）")
    print()
    with tempfile.TemporaryDirectory() as folder:
        return run_twice(Path(folder))


def run_twice(folder: Path) -> Context:
    """Begin a session in `folder`, and go on with it as another process would."""
    new_id = map("{:08}".format, itertools.count(1)).__next__
    here = Path(__file__).parent
    lines = shown_lines(SCRIPT)
    print("—— 第一次运行 ——")
    with closing(start_session(folder, new_id=new_id, now=noon)) as session:
        chat(lines, cwd=here, session=session)
    print()
    print("—— 第二次运行，带 --continue ——")
    with closing(latest_session(folder, new_id=new_id, now=noon)) as session:
        return chat(lines, cwd=here, session=session)


if __name__ == "__main__":
    with quiet_end():
        run_demo()
