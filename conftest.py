"""What the tests of every step share."""

import os

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion

from shared.snapshot_extension import StepFileExtension

# A slow machine is no failure: speed is measured in `make bench`, and nowhere in a test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# The tests may have been started by make. What it hands down is not for the make that they start.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(name, None)


@pytest.fixture
def pinned(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """The pinned files of a step, by name: `text == pinned(name="expected_output")`."""
    return snapshot.use_extension(StepFileExtension)
