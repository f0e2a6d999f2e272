"""What a reader changed is shared, kept and had back; what is hostile is refused."""

import base64
import json
import zlib

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, Page

from .conftest import ready

FILE = "step04_agent_loop/rules.py"


def opened(context: BrowserContext, address: str, more: str = "") -> Page:
    page = context.new_page()
    page.goto(f"{address}/playground/?lang=en&step=04{more}")
    page.wait_for_selector("html[data-ready]")
    return page


def typed(page: Page, text: str) -> None:
    page.click(f'#files [data-path="{FILE}"]')
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.wait_for_selector(f'#files .changed[data-path="{FILE}"]')


def shown(page: Page) -> str:
    page.click(f'#files [data-path="{FILE}"]')
    return page.locator(".cm-content").inner_text().strip()


def link_of(value: object) -> str:
    packer = zlib.compressobj(9, wbits=-15)
    data = packer.compress(json.dumps(value).encode()) + packer.flush()
    return "#shared=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def test_a_shared_address_opens_with_the_same_change(
    context: BrowserContext, browser: Browser, address: str
) -> None:
    page = opened(context, address)
    typed(page, "RULES = []")
    page.click("[data-view=compare]")
    page.click("#share")
    page.wait_for_selector("#shared:not(:empty)")
    link = page.url
    other = browser.new_context().new_page()
    other.goto(link)
    other.wait_for_selector("html[data-ready]")
    assert shown(other) == "RULES = []"
    other.context.close()


def test_what_was_typed_survives_and_a_reset_can_be_taken_back(
    context: BrowserContext, address: str
) -> None:
    page = opened(context, address)
    typed(page, "RULES = []")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert shown(page) == "RULES = []"
    page.click("[data-view=compare]")
    page.click("#reset")
    page.click("#sure [value=yes]")
    page.wait_for_selector("#files .changed", state="detached")
    page.click("#back")
    assert shown(page) == "RULES = []"


HOSTILE = {
    "a script in a name": {"step": "04", "changes": {"step04_agent_loop/<script>x.py": "x"}},
    "outside of the step": {"step": "04", "changes": {"step04_agent_loop/../shared/child.py": "x"}},
    "another folder": {"step": "04", "changes": {"labs/checking.py": "x"}},
    "no such step": {"step": "constructor", "changes": {}},
    "no text": {"step": "04", "changes": {FILE: {"x": 1}}},
    "a list": [],
    "50 MB": {"step": "04", "changes": {FILE: "x" * 50_000_000}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_address_does_nothing_but_say_no(
    context: BrowserContext, address: str, name: str
) -> None:
    page = opened(context, address, link_of(HOSTILE[name]))
    assert "Nothing was opened" in page.locator("#shared").inner_text()
    assert not page.locator("#files .changed").count()


def test_damaged_letters_are_refused(context: BrowserContext, address: str) -> None:
    page = opened(context, address, "#shared=%00!!")
    assert "Nothing was opened" in page.locator("#shared").inner_text()


def test_a_loop_without_end_is_stopped_and_an_error_is_told_with_its_line(
    context: BrowserContext, address: str
) -> None:
    page = opened(context, address)
    ready(page)
    typed(page, "RULES = [\n")
    page.click("#demo")
    page.wait_for_selector("#failure:not([hidden])")
    assert "rules.py, line 1" in page.locator("#failure").inner_text()
    typed(page, "while True:\n    pass\n")
    page.click("#demo")
    page.wait_for_selector("#stop:not([hidden])")
    page.click("#stop")
    page.wait_for_selector("#failure:not([hidden])")
    assert "Stopped" in page.locator("#failure").inner_text()


def test_it_runs_without_a_network_after_the_first_visit(
    context: BrowserContext, address: str
) -> None:
    page = opened(context, address)
    ready(page)
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    context.set_offline(True)
    page.reload()
    ready(page)
    page.click("#demo")
    page.wait_for_selector("#screen[aria-busy=false]")
    assert "再见" in page.locator("#screen").inner_text()
    context.set_offline(False)


@pytest.mark.parametrize("view", ["run", "check", "break", "compare"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(
    context: BrowserContext, address: str, view: str, width: int
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{address}/playground/?lang=zh&step=04")
    page.wait_for_selector("html[data-ready]")
    page.click(f"[data-view={view}]")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
