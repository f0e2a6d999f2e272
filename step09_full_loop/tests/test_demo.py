"""The demo prints its pinned transcript and leaves its pinned history."""

import io
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
