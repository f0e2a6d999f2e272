"""Choosing who answers: what is missing is said in a line, and no key is ever shown or kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..loopback import Loopback, played_by
from ..providers import ProviderError, service_model
from ..rules import RULES
from .service import KEY, refusing, replying

PACKAGE = __package__.split(".")[0]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def talk(cwd: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Say 「12*8」 to the step as its user does."""
    return subprocess.run(
        [sys.executable, "-m", PACKAGE, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        input="帮我算 12*8\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_a_service_answers_as_the_script_does(tmp_path: Path) -> None:
    with Loopback(played_by(RULES)) as server:
        arguments = ("--provider", "openai", "--model", "m", "--base-url", server.url)
        done = talk(tmp_path, *arguments, OPENAI_API_KEY=KEY)
    assert "助手> 算好了：12*8 = 96。" in done.stdout
    assert done.returncode == 0
    assert server.requests[0]["model"] == "m"
    kept = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.jsonl"))
    assert "算好了" in kept
    assert KEY not in done.stdout + done.stderr + kept


def test_a_key_that_the_service_repeats_is_shown_nowhere(tmp_path: Path) -> None:
    with replying(refusing(400, f"the key {KEY} is wrong")) as server:
        arguments = ("--provider", "openai", "--model", "m", "--base-url", server.url)
        done = talk(tmp_path, *arguments, OPENAI_API_KEY=KEY)
    kept = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.jsonl"))
    assert "[错误] 模型服务拒绝了这个请求（400）" in done.stdout
    assert KEY not in done.stdout + done.stderr + kept


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--provider", "openai", "--model", "m"), "请先设置环境变量 OPENAI_API_KEY"),
        (("--provider", "openai"), "--model"),
        (("--provider", "nobody"), "--provider"),
    ],
)
def test_what_is_missing_is_said_in_a_line(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = talk(tmp_path, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr


def test_an_sdk_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delitem(sys.modules, f"{PACKAGE}.providers.openai_chat", raising=False)
    with pytest.raises(ProviderError, match=r"pip install '\.\[providers\]'"):
        service_model("openai", "m", "http://127.0.0.1")


def test_an_sdk_is_imported_only_when_it_is_chosen() -> None:
    code = (
        f"import sys, {PACKAGE}.main; sys.exit(bool({{'openai', 'anthropic'}} & {{*sys.modules}}))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
