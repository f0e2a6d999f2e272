"""The conversation: read a line, answer it, wait for the next."""

import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from .agent import Agent
from .confirm import agree_to_all, ask_user, confirming
from .extensions import extension_files, load_extensions
from .fake_model import FakeModel
from .harness_types import Context, StreamFn, StreamOptions
from .hooks import Hooks
from .interrupt import ctrl_c_cancels, running, signals_leave
from .loop_config import LoopConfig, MaxTurns
from .options import Options, chosen_model, parse_options
from .queues import Queues
from .render import Screen
from .rules import RULES
from .sessions.folder import latest_session, listed_sessions, resume_session, start_session
from .sessions.session import Session
from .sessions.session_file import SessionError
from .slash_commands import hear, obeyed
from .terminal import on_terminal, quiet_end, typed_lines, use_readline, use_utf8
from .tools import create_builtin_tools
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext
from .typing_ahead import lines_go_to
from .whole_stream import whole

Work = Callable[[], Coroutine[object, object, None]]


def chat(
    lines: Iterable[str],
    *,
    cwd: Path | None = None,
    session: Session | None = None,
    tools: ToolRegistry | None = None,
    hooks: Hooks | None = None,
    model: StreamFn | None = None,
    queues: Queues | None = None,
    delay: float = 0.0,
) -> Context:
    """Answer line after line until /exit, the last line or Ctrl-C; return the whole context.

    Ctrl-C in the middle of an answer stops only that, unless it comes twice.

    `delay` is the time between two pieces of the model's text, in seconds. `cwd` is the folder that
    the tools work in; None is the current one. `session` is the conversation to go on with; None
    is a new one that no file keeps. `tools` are those of the step, and `hooks` the question before
    a command, unless they are given. `model` is who answers; None is the script of this step. What
    is typed meanwhile goes into `queues`.
    """
    session = session or Session()
    for notice in session.notices:
        print(f"[会话] {notice}")
    model = model or FakeModel(RULES, calls_before=session.last_call_number())
    tools = tools or create_builtin_tools()
    if hooks is None:
        hooks = new_hooks()
        hooks.on("before_tool_call", confirming(ask_user), "确认")
    context = Context(messages=session.history(), tools=tools.specs())
    limit = MaxTurns()
    agent = Agent(
        whole(model),
        tools=tools,
        tool_context=ToolContext(cwd=cwd or Path.cwd()),
        messages=context.messages,
        config=LoopConfig(
            before_tool_call=hooks.before_tool_call,
            after_tool_call=hooks.after_tool_call,
            should_stop_after_turn=limit,
            stream_options=StreamOptions(delay=delay),
        ),
        queues=queues,
    )
    # Every message is on the disk before anybody else hears of it.
    agent.subscribe(lambda event, cancel: save(session, context))
    agent.subscribe(hooks.observe)
    agent.subscribe(Screen().show)
    # The lines are read outside the event loop, so that Ctrl-C reaches whoever is typing.
    with running() as runner:
        try:
            for line in map(str.strip, lines):
                if line == "/exit":
                    break
                if not line or obeyed(line, session, context):
                    continue
                # At the prompt there is nothing to wait for: what is for later is said at once.
                work: Work | None = partial(agent.prompt, line.removeprefix("/follow ").strip())
                while work is not None:
                    cancel, loop = agent.cancel, runner.get_loop()
                    with ctrl_c_cancels(cancel, loop), lines_go_to(partial(hear, agent), loop):
                        runner.run(work())
                    save(session, context)
                    work = None if cancel.cancelled else what_is_left(agent)
                if limit.reached:
                    print(f"[错误] Agent Loop 达到最大轮数 {limit.max_turns}，已强制停止。")
                print()
        except KeyboardInterrupt:
            print()
        print(f"再见。（本次对话共 {len(context.messages)} 条消息）")
    return context


def what_is_left(agent: Agent) -> Work | None:
    """Return how to go on with what was typed too late for a run, unless that has failed."""
    waiting = agent.queues.steering.waiting or agent.queues.follow_ups.waiting
    return agent.continue_ if waiting and agent.state.error_message is None else None


def save(session: Session, context: Context) -> None:
    problem = session.save(context.messages)
    if problem is not None:
        print(f"[会话] {problem}")


def known_words() -> list[str]:
    """Return what a sentence may contain for the script to have an answer of its own."""
    matches = [rule.match for rule in RULES if rule.match is not None]
    return [match for match in matches if not match.startswith("toolResult:")]


def main(arguments: Sequence[str]) -> None:
    """Talk on the terminal, or answer what a pipe says; `arguments` say in which session."""
    use_utf8()
    options = parse_options(arguments)
    with quiet_end(), signals_leave():
        if options.list:
            print("\n".join(listed_sessions(Path.cwd()) or ["这个文件夹里还没有会话。"]))
            return
        with closing(open_session(options, Path.cwd())) as session:
            talk(session, options, chosen_model(options))


def open_session(options: Options, cwd: Path) -> Session:
    """Return the session that the options name, or a new one. One that is no good ends this."""
    try:
        if options.session is not None:
            return resume_session(options.session, cwd)
        if options.resume:
            return latest_session(cwd)
    except SessionError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    return Session() if options.no_session else start_session(cwd)


def new_hooks() -> Hooks:
    return Hooks(report=lambda problem: print(f"[扩展] {problem}"))


def talk(session: Session, options: Options, model: StreamFn | None) -> None:
    """Load the extensions, say what can be done here, and begin."""
    tools, hooks = create_builtin_tools(), new_hooks()
    cwd = Path.cwd()
    notices = load_extensions(extension_files(cwd, options.extension), tools, hooks, cwd)
    # This hook is the last one: what the user agrees to is what is run.
    hooks.on("before_tool_call", confirming(agree_to_all if options.yes else ask_user), "确认")
    if on_terminal():
        use_readline()
        script = f"剧本认得的字样：{'、'.join(known_words())}"
        print(f"输入一句话开始，/exit 离开。{f'回答的是 {options.model}' if model else script}")
        print("/tree 看分支，/back N 退回 N 句话，从那里另说一句。Ctrl-C 打断回答。")
        print("回答时也可以接着打字：那是插话，/follow 开头的留到最后再说。")
    print(f"可用工具：{', '.join(tools.names())}")
    for notice in notices:
        print(f"[扩展] {notice}")
    delay = 0.03 if on_terminal() else 0.0
    chat(typed_lines(), session=session, tools=tools, hooks=hooks, model=model, delay=delay)
