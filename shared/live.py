"""`make live`: two questions that the chapter leaves open, put to a model of the reader's own.

A measurement of one model and one server, and not a test: nothing here passes or fails.
"""

import asyncio
import importlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from . import environment
from .errors import UsageError
from .language import say
from .screen import visible, width_of

TIMES = 10
COLUMNS = 50  # for the question
NO_KEY = "no-key"  # A server of one's own asks for none.
REFUSAL = "参数校验失败：缺少必填参数 expression；不认识的参数 expr"


def live(step: Path, base_url: str, model: str) -> int:
    """Ask a server of chat completions, and print what comes of it."""
    if not (step / "providers").exists():
        raise UsageError(say("{step} talks to no server: say STEP=08", step=step.name))
    if not base_url or not model:
        example = "make live STEP=08 BASE_URL=http://localhost:11434/v1 MODEL=qwen3"
        raise UsageError(
            say("say where the server is, and which model: {example}", example=example)
        )
    return environment.run_tool("shared.live", step.name, base_url, model)


class Server:
    """A server, and the words that a step has for what is sent to it."""

    def __init__(self, package: str, base_url: str, model: str) -> None:
        self._package, self._base_url, self._model = package, base_url, model
        self.types = self.module("harness_types")
        self.tool = self.module("tools").create_builtin_tools().get("calc")

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self._package}.{name}")

    async def answer(self, messages: list[Any], **options: Any) -> Any:
        """Return what the model answers to exactly these messages: nothing is repaired."""
        openai: Any = importlib.import_module("openai")
        wire = self.module("providers.openai_chat")
        key = os.environ.get("OPENAI_API_KEY") or NO_KEY
        async with openai.AsyncOpenAI(api_key=key, base_url=self._base_url) as client:
            completion = await client.chat.completions.create(
                model=self._model,
                messages=[wire.chat_message(message) for message in messages],
                tools=[wire.chat_tool(self.tool)],
                **options,
            )
        return completion.choices[0].message

    def called(self) -> list[Any]:
        """Return a conversation in which the model has made up the name of an argument."""
        call = self.types.ToolCallContent("call_1", "calc", {"expr": "12*8"})
        asked = self.types.user_text("帮我算 12*8")
        return [asked, self.types.AssistantMessage([call], "toolUse")]

    async def corrects_itself(self, **options: Any) -> bool:
        """Return whether it then calls the tool with arguments that fit."""
        text = self.types.TextContent(REFUSAL)
        result = self.types.ToolResultMessage("call_1", "calc", [text], True)
        message = await self.answer([*self.called(), result], **options)
        parsed, validate = (
            self.module("providers.answer").parsed,
            self.module("tools.validate").validate,
        )
        calls = [call for call in message.tool_calls or [] if call.function.name == self.tool.name]
        arguments = [parsed(call.function.arguments) for call in calls]
        return any(validate(self.tool.parameters, one).ok for one in arguments)


async def measured(server: Server) -> AsyncIterator[tuple[str, str]]:
    """Give each question with its answer, when it is there."""
    yield say("it corrects a wrong name, free to choose"), await how_often(server)
    yield (
        say('it corrects a wrong name, tool_choice="required"'),
        await how_often(server, tool_choice="required"),
    )
    unanswered = server.called()
    yield say("a history that ends with an unanswered call"), await taken(server, unanswered)
    unanswered.append(server.types.user_text("那就算了"))
    yield say("the same, and a sentence of the user"), await taken(server, unanswered)


async def how_often(server: Server, **options: Any) -> str:
    good = 0
    for _ in range(TIMES):
        try:
            good += await server.corrects_itself(**options)
        except Exception as error:
            return refusal(error)
    return say("{good} of {times}", good=good, times=TIMES)


async def taken(server: Server, messages: list[Any]) -> str:
    try:
        await server.answer(messages)
    except Exception as error:
        return refusal(error)
    return say("accepted")


def refusal(error: Exception) -> str:
    """Return what a server has refused with; UsageError if there is no server."""
    status = getattr(error, "status_code", None)
    key = os.environ.get("OPENAI_API_KEY") or NO_KEY
    said = visible(" ".join(str(error).split()).replace(key, "***"))
    if status is None:
        raise UsageError(say("there is no answer to read from this server: {said}", said=said))
    return say("refused, HTTP {status}: {said}", status=status, said=said[:100])


async def main(package: str, base_url: str, model: str) -> int:
    try:
        async for question, answer in measured(Server(package, base_url, model)):
            print(f"{question}{' ' * (COLUMNS - width_of(question))}{answer}", flush=True)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(*sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
