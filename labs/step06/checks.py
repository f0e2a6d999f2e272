"""The tasks of step06, as a reader has done them. The working directory is the root."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shared.watching import watch_chat

from ..breaks import pinned_run
from ..conversation import play_demo
from ..language import say
from ..my_output import check_my_output
from ..script_rules import changed_rule, runs
from ..unasked import unasked_change
from ..verdict import Verdict, differs, done, not_yet, settled
from .kept import Kept, empty_folder, entries_in, killed_run, talked, texts_of

HERE = Path(__file__).parent
# What the tasks of this step ask a reader to change. It is judged by what it does.
ASKED = (
    "main.chat",
    "main.go_back",
    "main.obeyed",
    "main.save",
    "main.saved",
    "sessions.session.Session",
    "sessions.tree.SessionTree",
)
HELLO, CALCULATE, ASK = "你好", "帮我算 12*8", "刚才算的是多少"
CORRECTED = "写错参数"  # Its first turn has a call that is refused; the second calculates.
FALLBACK = "这句话没有命中任何规则，我只能用兜底回复了。"
NOTES = ["买牛奶", '引号 " 和 \\n 反斜线', "两  个空格", "/back 1", "12*8"]


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(package, pinned_run(HERE, "demo").transcript)


@settled
def task2(package: str) -> Verdict:
    """Save only when the run is over."""
    return (
        runs(package)
        or killed_verdict(package)
        or all_else(package)
        or done(say("what is killed is lost, and what ends well is on the disk"))
    )


@settled
def task3(package: str) -> Verdict:
    """Write notes into the session: /note."""
    return (
        runs(package)
        or note_verdict(package)
        or all_else(package)
        or saved_at_once(package)
        or done(say("a note is an entry of its own, and the model sees nothing of it"))
    )


@settled
def task4(package: str) -> Verdict:
    """Remember where /back has gone to."""
    return (
        runs(package)
        or back_verdict(package)
        or all_else(package)
        or saved_at_once(package)
        or done(say("the next start stands where /back has gone to, and nothing is lost"))
    )


def all_else(package: str) -> Verdict | None:
    """Return what was changed although no task asks for it, and what that does."""
    if not talked(package, [HELLO, "/exit"]).entries:
        return not_yet(say("nothing is saved any more, not even by a run that ends well"))
    known = pinned_run(HERE, "demo").transcript
    seen = play_demo(package)
    if found := unasked_change(package, ASKED) or changed_rule(package, HERE):
        return found
    if seen != known:
        return differs(say("the demo is not what it should be"), say("the demo"), known, seen)
    kept = talked(package, [HELLO, CALCULATE, "/exit"], [ASK])
    if len(kept.entries) != 8 or len(kept.path()) != 8:
        return not_yet(
            say("two runs that end well should leave 8 entries, each behind the one before"),
            where=say("entries, and those on the way to the last one"),
            expected="8, 8",
            seen=f"{len(kept.entries)}, {len(kept.path())}",
        )
    if kept.run.faults:
        return not_yet(kept.run.faults[0])
    return None


def killed_verdict(package: str) -> Verdict | None:
    """Kill a run in a tool of its first or second turn: nothing of it may be on the disk."""
    entries = left_by_a_killed_run() or left_by_a_killed_run(CORRECTED)
    if not entries:
        return None
    guess = say("`saved` still calls save before the run is over: look inside its `async for`")
    return not_yet(
        say("a run that is killed in its tool still leaves something on the disk"),
        where=say("the texts in the file"),
        expected=say("(nothing)"),
        seen=" · ".join(texts_of(entries)),
        guess=guess if len(entries) > 1 else say("what the user said is still saved at once"),
    )


def saved_at_once(package: str) -> Verdict | None:
    if len(left_by_a_killed_run()) == 2:
        return None
    return not_yet(
        say("what was said before a kill is lost"),
        guess=say(
            "each message has to be saved before the loop goes on, as in the step as shipped"
        ),
    )


def left_by_a_killed_run(sentence: str = CALCULATE) -> list[dict[str, Any]]:
    """Kill the program while calc runs, and return the entries that it left."""
    with empty_folder() as folder:
        killed_run("step06_sessions", sentence, folder)
        return entries_in(folder)


def note_verdict(package: str) -> Verdict | None:
    """Write notes: each is an entry between what was said before and after it."""
    lines = [HELLO, *(f"/note {note}" for note in NOTES), CALCULATE, "/exit"]
    kept = talked(package, lines, [ASK])
    notes = [entry for entry in kept.entries if entry["type"] == "note"]
    if not notes:
        return not_yet(
            say("「/note {note}」 leaves no entry of the type note in the file", note=NOTES[0]),
            where=say("the types in the file"),
            expected="message, message, note, …",
            seen=", ".join(entry["type"] for entry in kept.entries[:4]),
            guess=say("main.obeyed knows the commands, and Session writes the entries"),
        )
    texts = [entry.get("text") for entry in notes]
    if texts != NOTES:
        return differs(
            say("the notes in the file are not what was written"),
            say("the field text"),
            "\n".join(NOTES),
            "\n".join(map(str, texts)),
        )
    return (
        chain_verdict(kept)
        or seen_by_the_model(kept)
        or first_note_verdict(package)
        or empty_note_verdict(package)
        or unkept_note_verdict(package)
    )


def chain_verdict(kept: Kept) -> Verdict | None:
    """Look whether each entry has all that an entry needs, and follows the one before."""
    before = None
    for entry in kept.entries:
        missing = {"id", "parentId", "timestamp"} - entry.keys()
        if missing:
            return not_yet(say("an entry has no {names}", names=", ".join(sorted(missing))))
        if entry["parentId"] != before:
            return not_yet(
                say(
                    "an entry of the type {kind} does not follow the one before it",
                    kind=entry["type"],
                ),
                where="parentId",
                expected=str(before),
                seen=str(entry["parentId"]),
            )
        before = entry["id"]
    return None


def seen_by_the_model(kept: Kept) -> Verdict | None:
    wanted = [HELLO, CALCULATE, ASK]
    history = kept.run.history.splitlines()
    said = [line.removeprefix("user ").strip('"') for line in history if line.startswith("user")]
    if said != wanted:
        return differs(
            say("the model sees something else than what was said to it"),
            say("the messages of the user"),
            "\n".join(wanted),
            "\n".join(said),
            guess=say("an entry whose `message` is None is passed through, and shown to nobody"),
        )
    if len(history) != 8:
        return not_yet(
            say("the next run does not find all the messages"),
            where=say("how many there are"),
            expected="8",
            seen=str(len(history)),
            guess=say("each message has to be saved, as in the step as shipped"),
        )
    return None


def first_note_verdict(package: str) -> Verdict | None:
    """A note may be the first thing, and the last thing, of a session."""
    kept = talked(
        package, ["/note a", "/exit"], [HELLO, "/note b", "/exit"], ["/back 1", "/note c"]
    )
    entries = [entry for entry in kept.entries if entry["type"] in ("note", "message")]
    kinds = [entry["type"] for entry in entries]
    parents = [kept.parent(entry, kinds) for entry in entries]
    ids = [None, *(entry["id"] for entry in entries)]
    if kinds == ["note", "message", "message", "note", "note"] and parents[4] == ids[1]:
        return None
    return not_yet(
        say("a note before the first sentence, or after /back, stands in the wrong place"),
        where=say("types and parents"),
        expected="note ← null, message ← 1, message ← 2, note ← 3, note ← 1",
        seen=", ".join(
            f"{kind} ← {ids.index(parent) if parent in ids[1:] else 'null'}"
            for kind, parent in zip(kinds, parents, strict=True)
        ),
    )


def empty_note_verdict(package: str) -> Verdict | None:
    """`/note` alone is no note, and no sentence for the model either."""
    kept = talked(package, [HELLO, "/note", "/note  ", "/exit"])
    if [entry["type"] for entry in kept.entries] == ["message", "message"]:
        return None
    return not_yet(
        say("「/note」 without a text should leave nothing in the file"),
        where=say("the types in the file"),
        expected="message, message",
        seen=", ".join(entry["type"] for entry in kept.entries),
        guess=say("say what is missing, as /back does without a number"),
    )


def unkept_note_verdict(package: str) -> Verdict | None:
    """A conversation that nobody keeps goes on after a note."""
    wanted = "● 你好（/back 1）\n\n再见。（本次对话共 2 条消息）\n"
    seen = watch_chat(package, [HELLO, "/note a", "/tree"]).transcript.partition("你> /tree\n")[2]
    if seen == wanted:
        return None
    found = say("where no file keeps the conversation, a note changes it")
    return differs(found, "/tree", wanted, seen)


def back_verdict(package: str) -> Verdict | None:
    """Go back, leave, and start again."""
    said = [HELLO, CALCULATE, "/back 1", "/exit"]
    kept = talked(package, said, [ASK])
    if len(kept.run.history.splitlines()) != 4:
        return not_yet(
            say("after 「/back 1」 and /exit the next start does not stand where it went to"),
            where=say("how many messages the second run begins with"),
            expected="2",
            seen=str(len(kept.run.history.splitlines()) - 2),
            guess=say(
                "the last line of the file is where the conversation stands: "
                "which entry has to be the last one, and what is its parent?"
            ),
        )
    if FALLBACK not in kept.run.transcript:
        return not_yet(say("the model still knows of 12*8, on a branch where nobody asked for it"))
    return (
        untouched_before(package, said)
        or root_verdict(package)
        or again_verdict(package)
        or refused_back_verdict(package)
    )


def untouched_before(package: str, said: Sequence[str]) -> Verdict | None:
    """What was in the file stays there, and the file itself says where it stands."""
    before = talked(package, [*said[:2], "/exit"]).entries
    kept = talked(package, said)
    if kept.entries[: len(before)] != before:
        return not_yet(say("what was in the file has changed; a session file only grows"))
    if texts_of(kept.path()) != texts_of(before[:2]):
        return not_yet(
            say("a program that reads the file as SESSION_FORMAT.md says stands somewhere else"),
            where=say("the texts on the way to the last line"),
            expected=" · ".join(texts_of(before[:2])),
            seen=" · ".join(texts_of(kept.path())),
        )
    if any(entry["type"] == "message" for entry in kept.entries[len(before) :]):
        return not_yet(
            say("going back is written as a message"),
            guess=say("an entry of a type of its own is passed through"),
        )
    return None


def root_verdict(package: str) -> Verdict | None:
    """Go back to before the first sentence."""
    kept = talked(package, [HELLO, "/back 1", "/exit"], [ASK, "/tree"])
    if len(kept.run.history.splitlines()) == 2:
        return None
    return not_yet(
        say("going back to before the first sentence is forgotten"),
        where=say("the messages"),
        expected=f'user "{ASK}"',
        seen=kept.run.history.partition("\n")[0],
        guess=say("there the parent is null"),
    )


def again_verdict(package: str) -> Verdict | None:
    """Go back several times, and on: the branches are those that there were."""
    lines = [HELLO, CALCULATE, "/back 1", "/back 1", HELLO, "断线", "/back 1", "/exit"]
    tree = talked(package, lines, ["/tree"]).run.transcript
    shown = tree.partition("你> /tree\n")[2].partition("\n\n")[0]
    wanted = "├─ ○ 你好\n│  ○ 帮我算 12*8\n└─ ● 你好（/back 1）\n   ○ 断线"
    if shown == wanted:
        return None
    return differs(
        say("after going back more than once the tree is another"), "/tree", wanted, shown
    )


def refused_back_verdict(package: str) -> Verdict | None:
    kept = talked(package, [HELLO, "/back 5", "/back x", "/exit"])
    if len(kept.entries) == 2 and watch_chat(package, [HELLO, "/back 1"]).history == "":
        return None
    return not_yet(
        say("a /back that is refused should leave nothing in the file"),
        where=say("entries"),
        expected="2",
        seen=str(len(kept.entries)),
    )
