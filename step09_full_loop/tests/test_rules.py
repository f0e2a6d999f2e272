"""The script of this step: which sentence leads to which call, and what is said in the end."""

from pathlib import Path

import pytest

from ..harness_types import message_text, tool_calls_of
from ..main import chat


def said_and_called(sentence: str, cwd: Path) -> tuple[list[str], list[dict[str, object]]]:
    messages = chat([sentence], cwd=cwd).messages
    answers = [m for m in messages if m.role == "assistant"]
    calls = [call.arguments for answer in answers for call in tool_calls_of(answer)]
    return [message_text(answer) for answer in answers], calls


@pytest.mark.parametrize(
    ("sentence", "replies", "calls"),
    [
        ("你好", ["你好！我现在会用工具了，试试问我「帮我算 12*8」。"], []),
        ("断线", ["我正说到一半，"], []),
        ("刚才", ["这句话没有命中任何规则，我只能用兜底回复了。"], []),
        ("12*8", ["这个我算一下。", "算好了：12*8 = 96。"], [{"expression": "12*8"}]),
        ("除以零", ["我试试。", "这个算不了，除数不能是 0。"], [{"expression": "1/0"}]),
        ("note.txt", ["我打开看看。", "读完了，内容就是上面这些。"], [{"path": "note.txt"}]),
        ("README.md", ["我打开看看。", "这个文件没读成。"], [{"path": "README.md"}]),
        (
            "etc/hosts",
            ["我试着读一下。", "这个文件在工作目录之外，我不能读。"],
            [{"path": "../../../etc/hosts"}],
        ),
        ("再见", ["这句话没有命中任何规则，我只能用兜底回复了。"], []),
        ("天气", ["我查一下。", "这里没有查天气的工具，要载入扩展才有。"], [{"city": "北京"}]),
        ("删掉", ["我用一条命令删掉它。", "好，那就不运行。"], [{"command": "rm -r build"}]),
    ],
)
def test_a_sentence_leads_through_its_rules(
    sentence: str, replies: list[str], calls: list[dict[str, object]], tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("你好，帮我算 12*8。", "utf-8")  # A file may say anything.
    assert said_and_called(sentence, tmp_path) == (replies, calls)


def test_what_was_calculated_is_known_later_in_the_same_conversation() -> None:
    messages = chat(["12*8", "你好", "刚才算的是多少"]).messages
    assert message_text(messages[-1]) == "刚才算的是 12*8，结果是 96。"
