"""The site that was built, served on this machine, and a browser that may reach nothing else."""

import functools
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page

from playground.command import SITE, Handler
from shared.chromium import chromium
from shared.trace.browser import launched


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the site, and return where it is."""
    if chromium() is None or not (SITE / "sw.js").exists():
        pytest.skip("there is no Chromium here, or no site yet: make site")
    handler = functools.partial(Handler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser(address: str) -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """A reader who has never been here; whoever asks another host is a failure."""
    yield from reader(browser, address)


@pytest.fixture(scope="module")
def playground(browser: Browser, address: str) -> Iterator[Page]:
    """A playground in which Python is ready, for all tests of a module."""
    for context in reader(browser, address):
        page = context.new_page()
        page.goto(f"{address}/playground/?lang=en&step=04")
        ready(page)
        yield page


def reader(browser: Browser, address: str) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB", accept_downloads=True)
    context.set_default_timeout(15_000)
    foreign: list[str] = []
    complaints: list[str] = []

    def look(request: Any) -> None:
        if not request.url.startswith((address, "data:", "blob:", "about:")):
            foreign.append(request.url)

    context.on("request", look)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    yield context
    context.close()
    assert not foreign
    assert not complaints


def ready(page: Page) -> None:
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector("#python[data-state=ready]")


def choose(page: Page, number: str) -> None:
    """Take a step, with nothing changed in it."""
    page.select_option("#step", number)
    page.wait_for_selector(f"#files [aria-selected=true][data-path^=step{number}_]")
    page.click("[data-view=compare]")
    if page.locator("#files .changed").count():
        page.click("#reset")
        page.click("#sure [value=yes]")
        page.wait_for_selector("#files .changed", state="detached")


def open_patch(page: Page, patch: str) -> None:
    page.click("[data-view=compare]")
    page.evaluate("document.getElementById('shared').textContent = ''")
    file = FilePayload(name="mine.patch", mimeType="text/x-patch", buffer=patch.encode())
    page.set_input_files("#open", files=[file])
    page.wait_for_selector("#shared:not(:empty)")


def check(page: Page, task: int) -> str:
    """Check a task, and return what the checker says."""
    page.click("[data-view=check]")
    page.select_option("#task", str(task))
    page.click("#check:not([aria-disabled])")
    page.wait_for_selector("#verdict.good, #verdict.bad")
    return page.locator("#verdict").inner_text()


def demo(page: Page) -> str:
    """Play the demo, and return what people see."""
    page.click("[data-view=run]")
    page.click("#demo:not([aria-disabled])")
    page.wait_for_selector("#screen[aria-busy=false]")
    return page.locator("#screen").text_content() or ""
