"""What the tests of every step share."""

import gc
import os
import shutil
import sys
import tempfile
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
os.environ.pop("SSL_CERT_FILE", None)
# A hundred Pythons are started, and what one of them has compiled serves the others.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Texts are compared in English, whatever the locale of the reader.
os.environ["LAB_LANG"] = "en"
# What hypothesis has found out about Unicode serves the tests that run in a copy as well.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(__file__).parent / ".hypothesis"))

# What tests write is thrown away, and memory is the fastest place for that. Some machines have too
# little of it there, or run no programs from it.
MEMORY = Path("/dev/shm")  # noqa: S108
if "TMPDIR" not in os.environ and MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
    room = shutil.disk_usage(MEMORY).free > 2 * 1024**3
    if room and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def pytest_collection_finish() -> None:
    """Leave the five thousand tests alone when Python looks for garbage: they stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def pinned(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """The pinned files of a step, by name: `text == pinned(name="expected_output")`."""
    return snapshot.use_extension(StepFileExtension)
