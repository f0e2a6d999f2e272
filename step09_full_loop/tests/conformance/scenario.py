"""Plays a scenario file on this step, and gives the lines that Pi's recorder would have written.

python3 -m PACKAGE.tests.conformance.scenario FILE.json
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...agent import Agent
from ...agent_events import AgentEnd, AgentEvent
from ...cancel import CancelToken
from ...harness_types import (
    AssistantMessage,
    ContentBlock,
    Context,
    Message,
    StreamEvent,
    StreamFn,
    StreamOptions,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    user_text,
)
from ...loop_config import LoopConfig, NextTurn, Turn
from ...queues import MessageQueue, Queues
from ...tools.tool_types import ToolContext, ToolDefinition, ToolResult
from ...whole_run import whole_run
from .lines import Line, Lines, is_errors, js_json, matches, roles, text_of
from .played_model import Answer, PlayedError
from .played_tools import OfCall, PlayedTools

EXHAUSTED = {"text": "(script exhausted)"}


def number(text: str) -> float:
    """Read a number as JavaScript does, where 2.0 is 2."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def read_scenario(path: Path) -> dict[str, Any]:
    """Read a scenario file; OSError or ValueError if it is none."""
    scenario = json.loads(path.read_text("utf-8"), parse_float=number)
    known = ("turns", "prompt", "prompts", "messages", "tools", "driver", "description")
    if not isinstance(scenario, dict) or not any(key in scenario for key in known):
        raise ValueError("no scenario")
    return scenario


def history(told: dict[str, Any]) -> Message:
    """Return a message of the history as the scenario tells it."""
    content = told.get("content", "")
    text = [{"type": "text", "text": content}]
    blocks: list[Any] = text if isinstance(content, str) else content
    texts = [TextContent(block["text"]) for block in blocks if block["type"] == "text"]
    match told["role"]:
        case "assistant":
            both: list[ContentBlock] = [
                TextContent(block["text"])
                if block["type"] == "text"
                else ToolCallContent(block["id"], block["name"], block.get("arguments", {}))
                for block in blocks
                if block["type"] in ("text", "toolCall")
            ]
            return AssistantMessage(both, told.get("stopReason", "stop"), told.get("errorMessage"))
        case "toolResult":
            name, is_error = told.get("toolName", ""), bool(told.get("isError"))
            return ToolResultMessage(told["toolCallId"], name, texts, is_error)
    return user_text("".join(text.text for text in texts))


def kept(messages: Sequence[Message], wanted: dict[str, Any]) -> list[Message]:
    """Return the last messages, as many as a hook keeps."""
    last = wanted.get("keepLast")
    return [*messages] if last is None else [*messages[-last:]]


def failing(wanted: dict[str, Any]) -> None:
    if text := wanted.get("throw"):
        raise PlayedError(text)


async def heard_by(
    listener: Callable[[AgentEvent], None], run: AsyncGenerator[AgentEvent, None]
) -> None:
    """Tell a listener all events. If it raises, the run fails, and the listener still hears how."""
    failed = False
    async with aclosing(run):
        with suppress(StopAsyncIteration):
            event = await anext(run)
            while True:
                try:
                    listener(event)
                except Exception as error:
                    if not failed:
                        failed = True
                        event = await run.athrow(error)
                        continue
                event = await anext(run)


class Played:
    """One scenario, as it is played."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.scenario = scenario
        self.lines: list[Line] = []
        self.result: Sequence[Message] = ()
        self.messages = [history(told) for told in scenario.get("messages") or []]
        self._hooks: dict[str, Any] = scenario.get("hooks") or {}
        self._makes = Lines()
        self._calls: list[Line] = []
        self._turn_now: dict[str, Any] = {}
        self._polls = {"steering": 0, "followUp": 0}
        self._turns = 0
        self._seen = 0
        self._aborted = False
        self._steered = False
        self._cancel = CancelToken()
        self._agent: Agent | None = None
        self._tools = PlayedTools(self._tool_runs)
        self._prompts: list[str] = scenario.get("prompts") or [scenario.get("prompt", "hi")]
        self._system: str = scenario.get("systemPrompt", "sys")

    async def play(self) -> list[Line]:
        """Play it, and return its lines. One that hangs ends after `timeoutMs` (5 seconds)."""
        how: Line = {}
        self._abort("initial")
        abort, timer = self.scenario.get("abort") or {}, None
        if abort.get("at") == "timer":
            loop = asyncio.get_running_loop()
            timer = loop.call_later(abort.get("ms", 0) / 1000, self._abort, "timer")
        run = self._with_agent if self.scenario.get("driver") == "agent" else self._low_level
        try:
            async with asyncio.timeout(self.scenario.get("timeoutMs", 5000) / 1000) as limit:
                await run()
        except Exception as error:
            if limit.expired():
                how = {"hung": True}
            else:
                self.lines.append({"type": "__threw", "message": str(error)})
                how = {"threw": True}
            self.result = ()
        if timer is not None:
            timer.cancel()
        await asyncio.sleep(self.scenario.get("lingerMs", 0) / 1000)
        self.lines.append(
            {
                "type": "__end",
                "pkg": __package__.partition(".")[0],
                "driver": self.scenario.get("driver", "stream"),
                "roles": roles(self.result),
                "isErrors": is_errors(self.result),
                "callerContextRoles": roles(self.messages),
                "llmCalls": self._calls,
                "polls": self._polls,
                **how,
            }
        )
        return self.lines

    async def _low_level(self) -> None:
        goes_on = bool(self.scenario.get("continue"))
        tools = self._tools.registry(self.scenario.get("tools") or {})
        # What has no prompt goes on with the caller's own list, as with Pi.
        messages = self.messages if goes_on else [*self.messages]
        run = whole_run(
            prompts=[] if goes_on else [user_text(text) for text in self._prompts],
            context=Context(messages, tools.specs(), self._system),
            tools=tools,
            tool_context=ToolContext(Path.cwd(), self._cancel),
            stream_fn=self._model(self.scenario.get("model", "fake")),
            config=self._config(),
        )

        # Only a callback can fail: whoever reads a stream is not heard by the loop.
        if self.scenario.get("driver") == "emit" or self.scenario.get("subscriber"):
            await heard_by(self._heard, run)
            return
        async with aclosing(run):
            async for event in run:
                self._heard(event)
            self._one_event_later()

    def _one_event_later(self) -> None:
        """Let a reader of Pi's stream see a message that has just begun as Pi shows it.

        It hands out the message itself and goes on meanwhile: a call that is all there has begun.
        """
        turn = self._turn_now
        begins_with_call = not (turn.get("text") or turn.get("thinking")) and turn.get("toolCalls")
        line = self.lines[-1]
        if line.get("stopReason") == "pending" and begins_with_call and not turn.get("delayMs"):
            first = turn["toolCalls"][0]
            call = ToolCallContent(first["id"], first["name"], first.get("arguments", {}))
            line["text"] = text_of(AssistantMessage([call], "toolUse"))

    async def _with_agent(self) -> None:
        scenario = self.scenario
        self._agent = agent = Agent(
            self._model(scenario.get("model", "fake")),
            tools=self._tools.registry(scenario.get("tools") or {}),
            tool_context=ToolContext(Path.cwd(), self._cancel),
            messages=self.messages,
            system_prompt=self._system,
            # Pi's Agent has no such callback.
            config=replace(
                self._config(), should_stop_after_turn=LoopConfig().should_stop_after_turn
            ),
            queues=Queues(
                MessageQueue(scenario.get("steeringMode") or "one-at-a-time"),
                MessageQueue(scenario.get("followUpMode") or "one-at-a-time"),
            ),
        )
        agent.subscribe(lambda event, cancel: self._heard(event))
        self._queue(scenario.get("steer"), scenario.get("followUps"))
        await (agent.continue_() if scenario.get("continue") else agent.prompt(*self._prompts))
        state, queues = agent.state, agent.queues
        line: Line = {"type": "__agent_state", "isStreaming": state.is_streaming}
        if state.error_message is not None:
            line["errorMessage"] = state.error_message
        queued = bool(queues.steering.waiting or queues.follow_ups.waiting)
        self.lines.append(line | {"pending": [*state.pending_tool_calls], "queued": queued})
        self.result = state.messages

    def _queue(self, steer: list[str] | None, follow_ups: list[str] | None) -> None:
        assert self._agent is not None
        for text in steer or []:
            self._agent.steer(text)
        for text in follow_ups or []:
            self._agent.follow_up(text)

    def _heard(self, event: AgentEvent) -> None:
        """Write an event down, and do what the scenario wants to happen at it."""
        line = self._makes.line(event)
        self.lines.append(line)
        if isinstance(event, AgentEnd) and self._agent is None:
            self.result = event.messages
        steer = self.scenario.get("steerOn")
        if self._agent and steer and not self._steered and matches(steer["event"], line):
            self._steered = True
            self._queue(steer.get("steer"), steer.get("followUp") or steer.get("followUps"))
        abort = self.scenario.get("abort") or {}
        if abort.get("at") == "event" and matches(abort["key"], line):
            self._seen += 1
            if self._seen == abort.get("n", 1):
                self._abort("event", f"event:{abort['key']}")
        if (self.scenario.get("subscriber") or {}).get("throwOn") == event.type:
            raise PlayedError("subscriber failed")

    def _abort(self, at: str, why: str = "") -> None:
        if (self.scenario.get("abort") or {}).get("at") != at or self._aborted:
            return
        self._aborted = True
        self.lines.append({"type": "__abort", "why": why or at})
        if self._agent:
            self._agent.abort()
        elif self.scenario.get("driver") != "agent":
            self._cancel.cancel()

    def _hook(self, line: Line) -> None:
        if self.scenario.get("showHooks"):
            self.lines.append(line)

    def _model(self, name: str) -> StreamFn:
        return partial(self._stream, name)

    def _stream(
        self, name: str, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        turns = self.scenario.get("turns") or []
        rest = self.scenario.get("fallbackTurn") or EXHAUSTED
        turn: dict[str, Any] = turns[len(self._calls)] if len(self._calls) < len(turns) else rest
        self._turn_now = turn
        call: Line = {
            "roles": roles(context.messages),
            "systemPrompt": context.system_prompt,
            "tools": [tool.name for tool in context.tools],
            "model": name,
        }
        self._calls.append(call)
        self._hook({"type": "__llm_call", "n": len(self._calls), "roles": call["roles"]})
        self._abort("before_stream")
        failing(turn)
        if text := turn.get("reject"):
            return rejected(text)
        assert options is not None
        assert options.cancel is not None
        return Answer(turn).events(options.cancel)

    def _tool_runs(self, call_id: str, arguments: dict[str, Any]) -> None:
        self._hook({"type": "__tool_run", "toolCallId": call_id, "args": {**arguments}})
        self._abort("tool_run")

    def _config(self) -> LoopConfig:
        return LoopConfig(
            get_steering_messages=partial(self._polled, "steering"),
            transform_context=partial(self._shown, "transformContext"),
            convert_to_llm=partial(self._shown, "convertToLlm"),
            before_tool_call=self._before,
            after_tool_call=self._after,
            prepare_next_turn=self._prepare_next,
            should_stop_after_turn=self._should_stop,
            get_follow_up_messages=partial(self._polled, "followUp"),
            tool_execution=self.scenario.get("toolExecution") or "parallel",
        )

    async def _polled(self, which: str) -> list[Message]:
        self._polls[which] += 1
        n, answers = self._polls[which], self.scenario.get(which) or []
        if isinstance(answers, list):
            texts = answers[n - 1] if n <= len(answers) else []
        else:
            texts = answers.get(str(n), [])
        self._hook({"type": f"__poll_{which}", "n": n, "got": len(texts)})
        return [user_text(text) for text in texts]

    async def _shown(self, hook: str, messages: Sequence[Message]) -> Sequence[Message]:
        wanted = self._hooks.get(hook) or {}
        failing(wanted)
        return kept(messages, wanted) if wanted else messages

    def _wanted(self, hook: str, call: ToolCallContent) -> dict[str, Any] | None:
        """Return what a hook does with a call; None if the scenario has no such hook."""
        at = (self.scenario.get("abort") or {}).get("at")
        table: dict[str, Any] | None = self._hooks.get(hook)
        if table is None and at != {"beforeToolCall": "before_tool"}.get(hook, "after_tool"):
            return None
        table = table or {}
        wanted: dict[str, Any] = table.get(call.id) or table.get(call.name) or {}
        return wanted

    async def _before(
        self,
        tool: ToolDefinition,
        call: ToolCallContent,
        arguments: dict[str, object],
        cancel: CancelToken,
    ) -> dict[str, object] | ToolResult:
        wanted = self._wanted("beforeToolCall", call)
        if wanted is None:
            return OfCall(arguments, call.id)
        line = {"type": "__beforeToolCall", "toolCallId": call.id, "args": {**arguments}}
        self._hook(line)
        self._abort("before_tool")
        await asyncio.sleep(wanted.get("delayMs", 0) / 1000)
        failing(wanted)
        if wanted.get("block"):
            return ToolResult(wanted.get("reason") or "", is_error=True)
        return OfCall(arguments | (wanted.get("mutate") or {}), call.id)

    async def _after(
        self,
        call: ToolCallContent,
        arguments: dict[str, object],
        result: ToolResult,
        cancel: CancelToken,
    ) -> ToolResult:
        wanted = self._wanted("afterToolCall", call)
        if wanted is None:
            return result
        line = {"type": "__afterToolCall", "toolCallId": call.id, "isError": result.is_error}
        self._hook(line)
        self._abort("after_tool")
        await asyncio.sleep(wanted.get("delayMs", 0) / 1000)
        failing(wanted)
        names = {"text": "content", "isError": "is_error", "terminate": "terminate"}
        changes: dict[str, Any] = {
            names[key]: value for key, value in wanted.items() if key in names and value is not None
        }
        return replace(result, **changes)

    async def _prepare_next(self, turn: Turn) -> NextTurn | None:
        self._hook({"type": "__prepareNextTurn", "roles": roles(turn.context.messages)})
        wanted = self._hooks.get("prepareNextTurn")
        if not wanted:
            return None
        failing(wanted)
        context = replace(turn.context, messages=kept(turn.context.messages, wanted))
        context.system_prompt = wanted.get("systemPrompt", context.system_prompt)
        tools = None
        if (chosen := wanted.get("tools")) is not None:
            known = self.scenario.get("tools") or {}
            if isinstance(chosen, list):
                chosen = {name: known.get(name) or {} for name in chosen}
            tools = self._tools.registry(chosen)
            context.tools = tools.specs()
        model = wanted.get("model")
        return NextTurn(context, tools, self._model(model) if model else None)

    async def _should_stop(self, turn: Turn) -> bool:
        self._hook({"type": "__shouldStopAfterTurn"})
        failing(self._hooks.get("shouldStopAfterTurn") or {})
        self._turns += 1
        return self._turns >= float(self.scenario.get("maxTurns", "inf"))


async def rejected(text: str) -> AsyncGenerator[StreamEvent, None]:
    raise PlayedError(text)
    yield  # It is a stream, although nothing comes of it.


def conform(file: str) -> int:
    """Play a file, and print its lines."""
    try:
        scenario = read_scenario(Path(file))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a scenario in JSON"
        print(f"{file}: {reason}", file=sys.stderr)
        return 2
    for line in asyncio.run(Played(scenario).play()):
        sys.stdout.write(f"{js_json(line)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(conform(*sys.argv[1:2] or [""]))
