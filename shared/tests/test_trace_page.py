"""The page of make trace, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from labs.breaks import copy_broken, find_break
from shared.chromium import chromium
from shared.steps import ROOT, find_step
from shared.trace.bench import long_run
from shared.trace.browser import launched
from shared.trace.command import record_all
from shared.trace.page import page as page_of
from shared.trace.recorder import Recording
from shared.trace.timeline import timeline

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium on this machine")

Scheme = Literal["light", "dark"]
SIZES: list[tuple[int, Scheme, list[str]]] = [
    (1280, "light", ["intact"]),
    (1280, "dark", ["intact", "broken"]),
    (390, "light", ["intact", "broken"]),
    (390, "dark", ["intact"]),
]


# What a lane of the page shows, as it stands there.
SHOWN = """
() => [...document.querySelectorAll(".lane")].map((lane) => ({
  screen: lane.querySelector(".terminal").textContent,
  roles: [...lane.querySelectorAll("li:not([hidden]) .role")].map((e) => e.textContent),
  lit: [...lane.querySelectorAll(".line.lit")].map((e) => Number(e.dataset.line)),
  boxes: lane.querySelectorAll(".box.lit").length,
  way: lane.querySelector(".way-out").hidden ? "" : lane.querySelector(".way-out").textContent,
  rule: lane.querySelector(".rule").textContent,
}))
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    """The demo of step04, intact and without the append."""
    step, folder = find_step("04"), tmp_path_factory.mktemp("broken")
    copy_broken(find_break(step, "no-append"), folder)
    return record_all(step, {"intact": ROOT, "broken": folder}, "")


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    """Open the page of some recordings; whatever the browser complains of is a failure."""
    complaints: list[str] = []

    def open_it(
        lanes: dict[str, Recording], *, at: str = "", width: int = 1280, scheme: Scheme = "light"
    ) -> Page:
        file = tmp_path / "trace.html"
        file.write_text(page_of(lanes), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            offline=True,
        )
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{file.as_uri()}{at}")
        return page

    yield open_it
    assert complaints == []


def replay(recording: Recording, place: int) -> dict[str, Any]:
    """Return what the page has to show of a moment, computed from the recording alone."""
    moment = recording.moments[place]
    return {
        "screen": recording.screen[: moment.screen],
        "roles": [message["role"] for message in recording.history_at(moment)],
        "line": moment.line,
    }


def agrees(shown: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert shown["screen"] == wanted["screen"]
    assert [role.split()[0] for role in shown["roles"]] == wanted["roles"]
    assert wanted["line"] in shown["lit"]
    assert shown["boxes"] == 1


def test_every_event_is_reached_forwards_and_backwards(
    open_page: Any, lanes: dict[str, Recording]
) -> None:
    page = open_page(lanes)
    walk = timeline(list(lanes.values()))
    for way, key in ((walk, "ArrowRight"), (reversed(walk), "ArrowLeft")):
        for places in way:
            shown = page.evaluate(SHOWN)
            for lane, recording, place in zip(shown, lanes.values(), places, strict=True):
                agrees(lane, replay(recording, place))
            page.keyboard.press(key)


def test_the_broken_run_shows_the_result_to_people_and_not_to_the_model(
    open_page: Any, lanes: dict[str, Recording]
) -> None:
    page = open_page(lanes)
    page.click("[data-go=parting]")
    intact, broken = page.evaluate(SHOWN)
    for lane in (intact, broken):
        assert lane["screen"].endswith("[工具结果] calc → 96\n")
    assert intact["roles"][-1] == "toolResult call_1 calc"
    assert broken["roles"][-1] == "assistant"
    assert page.locator(".lane:nth-child(2) .call.unanswered").count() == 1
    assert page.locator(".lane:nth-child(1) .call.unanswered").count() == 0


def test_the_way_out_and_the_rule_are_named(open_page: Any, lanes: dict[str, Recording]) -> None:
    page = open_page({"intact": lanes["intact"]}, at="#18")
    (shown,) = page.evaluate(SHOWN)
    assert "模型不再要工具：正常结束" in shown["way"]
    assert "rule 1 (match='你好')" in shown["rule"]
    assert page.locator(".box.left-by text").text_content() == "return"


def test_the_keyboard_is_enough(open_page: Any, lanes: dict[str, Recording]) -> None:
    page = open_page({"intact": lanes["intact"]})
    slider = page.locator("#slider")
    last = str(len(lanes["intact"].moments))
    for key, wanted in (("End", last), ("Home", "1"), ("PageDown", "19"), ("PageUp", "1")):
        page.keyboard.press(key)
        assert slider.input_value() == wanted
    names = []
    for _ in range(8):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("document.activeElement.dataset.go || document.activeElement.id")
        )
    assert names == ["first", "turn-back", "back", "play", "on", "turn-on", "last", "slider"]
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "2"
    page.focus("[data-go=on]")
    page.keyboard.press("Enter")
    assert slider.input_value() == "3"
    page.click("h1")
    page.keyboard.press("Space")
    page.wait_for_function("Number(document.getElementById('slider').value) > 4")
    assert page.locator("[data-go=play]").text_content() == "⏸ 暂停 · pause"
    page.keyboard.press("ArrowLeft")
    assert page.locator("[data-go=play]").text_content() == "▶ 播放 · play"


def test_a_pane_that_the_keyboard_has_reached_scrolls(
    open_page: Any, lanes: dict[str, Recording]
) -> None:
    page = open_page({"intact": lanes["intact"]}, at="#28", width=390)
    page.focus("#slider")
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "source"
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")
    assert page.locator("#slider").input_value() == "28"


def test_a_run_that_shows_no_difference_says_so(
    open_page: Any, lanes: dict[str, Recording]
) -> None:
    page = open_page({"one": lanes["intact"], "other": lanes["intact"]})
    assert page.locator("[data-go=parting]").is_disabled()
    assert "shows no difference" in page.locator("[data-go=parting]").text_content()


def test_every_moment_has_an_address(open_page: Any, lanes: dict[str, Recording]) -> None:
    page = open_page({"intact": lanes["intact"]}, at="#17")
    agrees(page.evaluate(SHOWN)[0], replay(lanes["intact"], 16))
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash === '#18'")
    page.reload()
    agrees(page.evaluate(SHOWN)[0], replay(lanes["intact"], 17))


def test_an_address_that_is_none_shows_what_is_nearest(
    open_page: Any, lanes: dict[str, Recording]
) -> None:
    last = len(lanes["intact"].moments)
    page = open_page({"intact": lanes["intact"]}, at="#9999")
    assert page.locator("#slider").input_value() == str(last)
    for address in ("#0", "#-3", "#x", "#", "#1.5"):
        page.evaluate("(address) => { show(17); location.hash = address; }", address)
        page.wait_for_function("Number(document.getElementById('slider').value) === 1")


def test_text_of_the_run_is_never_markup(
    open_page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = (
        "😀</script><script>document.title = 'hacked'</script><img src=x onerror=document.title=1>"
    )
    (tmp_path / "README.md").write_text(hostile)
    step = find_step("05")
    monkeypatch.chdir(tmp_path)
    run = record_all(step, {"run": ROOT}, f"读一下 README.md {hostile}")["run"]
    page = open_page({hostile: run})
    page.keyboard.press("End")
    (shown,) = page.evaluate(SHOWN)
    assert f"[工具结果] read_file → {hostile}\n" in shown["screen"]
    assert page.locator("li", has_text=hostile).count() == 2
    assert page.title().startswith(step.name)
    assert page.locator("img").count() == 0


@pytest.mark.parametrize(("width", "scheme", "titles"), SIZES)
def test_it_fits_and_is_accessible(
    width: int, scheme: Scheme, titles: list[str], open_page: Any, lanes: dict[str, Recording]
) -> None:
    page = open_page({t: lanes[t] for t in titles}, at="#40", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_a_run_of_2000_events_can_be_walked(open_page: Any, lanes: dict[str, Recording]) -> None:
    run = long_run(lanes["intact"], 2000)
    page = open_page({"long": run}, at="#1000")
    page.evaluate("for (let n = 0; n < 200; n++) go.on()")
    assert page.locator("#slider").input_value() == "1200"
    page.keyboard.press("End")
    assert page.locator("#slider").input_value() == "2000"
    assert page.locator("li:not([hidden])").count() == len(run.history_at(run.moments[-1]))
