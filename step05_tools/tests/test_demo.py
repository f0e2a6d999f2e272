"""The demo prints its pinned transcript and leaves its pinned history."""

import pytest
from syrupy.assertion import SnapshotAssertion

from shared.history import history_lines
from shared.pairing import pairing_faults

from ..demo import run_demo


def test_what_people_see_and_what_the_model_sees(
    capsys: pytest.CaptureFixture[str], pinned: SnapshotAssertion
) -> None:
    context = run_demo()
    assert capsys.readouterr().out == pinned(name="expected_output")
    assert history_lines(context.messages) == pinned(name="expected_context")
    assert pairing_faults(context.messages) == []
