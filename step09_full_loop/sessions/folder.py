"""The sessions of a folder: beginning one, going on with one, and which there are."""

import contextlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from ..terminal import visible_line
from .pairing import made_up, paired
from .reading import Reading, read_session, refuse_all_but_files
from .session import Session, random_id, utc_now
from .session_file import SessionBusyError, SessionError, SessionFile
from .tree_lines import shortened

FOLDER = ".sessions"
NewId = Callable[[], str]
Now = Callable[[], datetime]


def start_session(cwd: Path, *, new_id: NewId = random_id, now: Now = utc_now) -> Session:
    """Return a new session of the folder `cwd`. Its file is made when something is said."""
    session_id = new_id()
    name = f"{now():%Y-%m-%dT%H-%M-%S}_{session_id}.jsonl"
    session = Session(SessionFile(cwd / FOLDER / name), new_id=new_id, now=now)
    session.begin(session_id, cwd)
    session.notices = [f"新会话，保存在 {FOLDER}/{name}"]
    return session


def resume_session(
    path: Path, cwd: Path, *, new_id: NewId = random_id, now: Now = utc_now
) -> Session:
    """Return the session of a file, to go on with it in the folder `cwd`.

    SessionError if it is no good session, or if another process has it; the file is not changed.
    """
    refuse_all_but_files(path)
    file = SessionFile(path)
    try:
        # What cannot be written can still be read. The user is told when there is something new.
        with contextlib.suppress(OSError):
            file.hold()
        reading = read_session(path)
    except SessionError:
        file.close()
        raise
    session = Session(file, reading.tree, new_id=new_id, now=now)
    session.notices = list(notices(path, cwd, reading))
    return session


def latest_session(cwd: Path, *, new_id: NewId = random_id, now: Now = utc_now) -> Session:
    """Return the session of the folder `cwd` that was used last, to go on with it.

    SessionError if there is none, or if another process has it. One that cannot be used is left
    out and named.
    """
    skipped = []
    for path in session_files(cwd):
        try:
            session = resume_session(path, cwd, new_id=new_id, now=now)
            refuse_empty(session, path)
        except SessionBusyError:
            raise
        except SessionError as error:
            skipped.append(f"跳过了一个：{error}")
        else:
            session.notices = [*skipped, *session.notices]
            return session
    none = "这个文件夹里没有可以接着的会话，去掉 --continue 就开始一个新的"
    raise SessionError("；".join([*skipped, none]))


def refuse_empty(session: Session, path: Path) -> None:
    if session.tree.leaf is None:
        session.close()
        raise SessionError(f"会话 {visible_line(path.name)} 里还什么都没有")


def notices(path: Path, cwd: Path, reading: Reading) -> Iterator[str]:
    """Give what the user should know before a conversation goes on."""
    stored = reading.tree.messages()
    history = paired(stored)
    yield f"接着 {visible_line(path.name)}：{len(history)} 条消息"
    if reading.lost:
        yield f"第 {'、'.join(map(str, reading.lost))} 行读不懂，跳过了，还留在文件里"
    if answered := made_up(history, stored):
        yield f"有 {len(answered)} 次工具调用找不到结果，已按出错补上"
    if reading.cwd is not None and Path(reading.cwd) != cwd:
        yield f"它开始于 {visible_line(reading.cwd)}，现在工具在 {visible_line(str(cwd))} 里工作"


def session_files(cwd: Path) -> list[Path]:
    """Return the files of all sessions of the folder `cwd`, first the one that changed last."""
    # A link may lead nowhere, so it counts as the file that it is.
    found = [(path.lstat().st_mtime_ns, path) for path in (cwd / FOLDER).glob("*.jsonl")]
    return [path for _, path in sorted(found, reverse=True)]


def listed_sessions(cwd: Path) -> list[str]:
    """Return a line for each session: when it changed last, its messages, and its first words."""
    return [listed_session(path) for path in session_files(cwd)]


def listed_session(path: Path) -> str:
    changed = datetime.fromtimestamp(path.lstat().st_mtime)
    name = f"{FOLDER}/{visible_line(path.name)}"
    try:
        tree = read_session(path).tree
    except SessionError as error:
        return f"{changed:%Y-%m-%d %H:%M}  {name}  （{error}）"
    said = tree.sentences()
    first = shortened(said[0]) if said else ""
    count = f"{len(paired(tree.messages()))} 条消息"
    return f"{changed:%Y-%m-%d %H:%M}  {name}  {count}  {first}".rstrip()
