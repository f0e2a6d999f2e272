"""The browser of the machine, if it has one."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")


def chromium() -> str | None:
    """Return the path of a Chromium, or None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)
