"""smolagents: a ToolCallingAgent with a Model of our own. What it prints is switched off."""

from typing import Any

from smolagents import LogLevel, Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)
from smolagents.monitoring import TokenUsage

from .measure import ARGUMENTS, TEXT, Script, measure

script = Script()


class Scripted(Model):
    def generate(self, messages: list[ChatMessage], **options: Any) -> ChatMessage:
        call = script.next_call()
        function = (
            ChatMessageToolCallFunction(ARGUMENTS, "calc")
            if call
            else ChatMessageToolCallFunction({"answer": TEXT}, "final_answer")
        )
        calls = [ChatMessageToolCall(function, call or "last", "function")]
        return ChatMessage(MessageRole.ASSISTANT, TEXT, calls, token_usage=TokenUsage(1, 1))


@tool
def calc(expression: str) -> str:
    """Calculate.

    Args:
        expression: What to calculate.
    """
    return script.run_tool()


agent = ToolCallingAgent([calc], Scripted(), verbosity_level=LogLevel.OFF)


def converse() -> None:
    agent.run("go", max_steps=script.turns + 1)


if __name__ == "__main__":
    measure("smolagents", script, converse)
