"""Lines that are not for the model: at the prompt, and while an answer comes in."""

from .agent import Agent
from .harness_types import Context
from .sessions.session import Session
from .sessions.tree_lines import shortened, tree_lines
from .terminal import visible_line


def obeyed(line: str, session: Session, context: Context) -> bool:
    """Do what a line demands, if it is a command, and return whether it was one."""
    command, _, count = line.partition(" ")
    match command:
        case "/tree":
            print("\n".join(tree_lines(session.tree) or ["还什么都没有说过。"]))
        case "/back":
            print(go_back(count, session, context))
        case _:
            return False
    print()
    return True


def go_back(count: str, session: Session, context: Context) -> str:
    """Go back `count` things that the user said, and return what to tell the user."""
    try:
        entry = session.tree.back(int(count))
    except ValueError:
        return (
            f"退不了。这个分支上有 {len(session.tree.sentences())} 句话，写成 /back 1 这样的数字。"
        )
    context.messages[:] = session.history()
    return f"回到了「{shortened(entry)}」之前，接下来说的是新的分支。"


def hear(agent: Agent, line: str) -> None:
    """Take what is typed while the agent works: for its next turn, or with /follow for later."""
    command, _, later = line.partition(" ")
    if command == "/follow" and later:
        agent.follow_up(later)
    elif command == "/follow":
        print("[插话] /follow 后面要写一句话")
    elif command.startswith("/"):
        print(f"[插话] {visible_line(command)} 要等回答结束才能用")
    else:
        agent.steer(line)
