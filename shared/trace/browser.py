"""The browser for what a page must do: the Chromium of the machine, driven by Playwright."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from ..chromium import chromium

# Without these, Chromium looks for its maker's servers when it starts.
QUIET = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the browser, without a window, and close it in the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            # A container's root has no sandbox to offer; the pages are our own.
            executable_path=chromium(),
            args=[*QUIET, "--no-sandbox"],
        )
        try:
            yield browser
        finally:
            browser.close()


def take_screenshot(page_file: str, moment: str, picture: str) -> None:
    """Write a picture of a page, at the turn after one of its moments: then people have seen it."""
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 560}, color_scheme="light")
        page.goto(f"{Path(page_file).resolve().as_uri()}#{moment}")
        page.keyboard.press("PageDown")
        page.screenshot(path=picture)


if __name__ == "__main__":
    take_screenshot(*sys.argv[1:])
