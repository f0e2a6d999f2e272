"""mini-swe-agent: its DefaultAgent with a Model of our own.

Its one tool starts a shell; here a function answers instead, or the shell would be all that counts.
"""

import json
import os
import sys
from typing import Any

# It greets, and looks for its settings in the reader's home, as soon as it is imported.
os.environ |= {"MSWEA_SILENT_STARTUP": "1", "MSWEA_GLOBAL_CONFIG_DIR": sys.prefix}

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.exceptions import Submitted
from minisweagent.models.utils.actions_toolcall import format_toolcall_observation_messages

from .measure import ARGUMENTS, TEXT, Script, measure

script = Script()


class Scripted:
    config = None

    def query(self, messages: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        call = script.next_call()
        if call is None:
            raise Submitted({"role": "exit", "content": TEXT, "extra": {"submission": TEXT}})
        function = {"name": "bash", "arguments": json.dumps(ARGUMENTS)}
        return {
            "role": "assistant",
            "content": TEXT,
            "tool_calls": [{"id": call, "type": "function", "function": function}],
            "extra": {"actions": [{"command": "12*8", "tool_call_id": call}], "cost": 0.0},
        }

    def format_message(self, **message: Any) -> dict[str, Any]:
        return message

    def format_observation_messages(
        self,
        message: dict[str, Any],
        outputs: list[dict[str, Any]],
        template_vars: dict[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = format_toolcall_observation_messages(
            actions=message["extra"]["actions"],
            outputs=outputs,
            observation_template="{{output.output}}",
            template_vars=template_vars,
        )
        return found

    def get_template_vars(self, **more: Any) -> dict[str, Any]:
        return {}

    def serialize(self) -> dict[str, Any]:
        return {}


class Calculator(LocalEnvironment):
    def execute(self, *args: Any, **options: Any) -> dict[str, Any]:
        return {"output": script.run_tool(), "returncode": 0, "exception_info": ""}


def converse() -> None:
    templates = {"system_template": "You calculate.", "instance_template": "{{task}}"}
    DefaultAgent(Scripted(), Calculator(), **templates).run("go")


if __name__ == "__main__":
    measure("mini-swe-agent", script, converse)
