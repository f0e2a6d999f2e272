"""What the tests of every step share."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion

from shared.snapshot_extension import StepFileExtension

# A slow machine is no failure: speed is measured in `make bench`, and nowhere in a test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# The tests may have been started by make. What it hands down is not for the make that they start,
# and the Python that they start has to find the folder in which it is started.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONSAFEPATH"):
    os.environ.pop(name, None)
# The servers of the tests are on this machine, to which no proxy leads.
os.environ["NO_PROXY"] = "127.0.0.1"
# No client needs the certificates of the world for them, which take longer to load than an answer.
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent / "shared" / "tests")
# A hundred Pythons are started, and what one of them has compiled serves the others.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Texts are compared in English, whatever the locale of the reader.
os.environ["LAB_LANG"] = "en"
# What hypothesis has found out about Unicode serves the tests that run in a copy as well.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(__file__).parent / ".hypothesis"))


@pytest.fixture
def pinned(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """The pinned files of a step, by name: `text == pinned(name="expected_output")`."""
    return snapshot.use_extension(StepFileExtension)
