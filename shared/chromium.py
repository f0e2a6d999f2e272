"""The browser of the machine, if it has one."""

import shutil
from collections.abc import Iterator
from pathlib import Path

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "msedge",
)
# Where macOS and Windows keep what is on no PATH.
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)


def chromium() -> str | None:
    """Return the path of a Chromium, or None if there is none."""
    return next(candidates(), None)


def candidates() -> Iterator[str]:
    yield from filter(None, map(shutil.which, NAMES))
    yield from (place for place in PLACES if Path(place).exists())
