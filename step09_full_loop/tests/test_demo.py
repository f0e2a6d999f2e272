"""The demo prints its pinned transcript and leaves its pinned history."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from shared.history import history_lines
from shared.pairing import pairing_faults

from ..demo import run_demo


def test_the_demo_is_utf8_whatever_the_locale_says(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii", newline="\r\n"))
    run_demo()
    sys.stdout.flush()
    assert shown.getvalue() == (Path(__file__).parents[1] / "expected_output.txt").read_bytes()


def test_what_people_see_and_what_the_model_sees(
    capsys: pytest.CaptureFixture[str], pinned: SnapshotAssertion
) -> None:
    context = run_demo()
    assert capsys.readouterr().out == pinned(name="expected_output")
    assert history_lines(context.messages) == pinned(name="expected_context")
    assert pairing_faults(context.messages) == []


def test_without_the_library_the_demo_prints_the_same() -> None:
    package = __package__.partition(".")[0]
    code = (
        f"import sys; sys.modules['jsonschema_rs'] = None; import {package}.demo as d; d.run_demo()"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True)
    assert done.stdout == (Path(__file__).parents[1] / "expected_output.txt").read_bytes()
