"""The page of make trace, in a real browser."""

import dataclasses
import importlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, Page

from labs.tracing import recorded
from shared.chromium import chromium
from shared.steps import find_step
from shared.trace import flow
from shared.trace.bench import long_run
from shared.trace.browser import launched
from shared.trace.page import page as page_of
from shared.trace.recorder import record
from shared.trace.recording import Ask, Call, Line, Message, Moment, Recording
from shared.trace.timeline import difference, folded, parting, timeline

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium on this machine")

TEMPLATES = Path(__file__).parents[1] / "trace" / "templates"
Scheme = Literal["light", "dark"]

# What each lane of the page shows, as it stands there.
SHOWN = """
const shown = () => [...document.querySelectorAll(".lane")].map((lane) => ({
  step: Number(document.getElementById("slider").value),
  screen: [...lane.querySelectorAll(".piece:not([hidden])")].map((e) => e.textContent).join(""),
  history: [...lane.querySelectorAll("li")].map((e) => [
    e.querySelector(".role").textContent,
    e.querySelector(".text")?.textContent ?? "",
  ]),
  lit: [...lane.querySelectorAll(".line.lit .number")].map((e) => Number(e.textContent)),
  boxes: [...lane.querySelectorAll(".box.lit .visits")].map((e) => e.textContent),
  value: lane.querySelector(".line.lit .value")?.textContent ?? "",
  state: lane.querySelector("h2 .state").textContent,
}));
"""
PRESSED = "(keys) => { %s return keys.map((key) => { press(key); return shown(); }); }"
PRESS = """
const press = (key) => (document.activeElement ?? document.body).dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
"""
# The steps at which something that is lit is not wholly in the window, or not in its pane.
OUT_OF_SIGHT = """
() => {
  const inside = (part, frame) => part.top >= frame.top - 1 && part.bottom <= frame.bottom + 1
    && part.left >= frame.left - 1 && part.left < frame.right;
  const faults = [];
  for (const n of stops.statement) {
    show(n);
    for (const lane of document.querySelectorAll(".lane")) {
      const parts = [...lane.querySelectorAll(".lit")];
      for (const kind of [".line", ".box"]) if (!lane.querySelector(`${kind}.lit`)) faults.push(n);
      for (const part of parts) {
        const rect = part.getBoundingClientRect();
        const pane = part.closest(".body").getBoundingClientRect();
        const frame = { top: 0, left: 0, right: innerWidth, bottom: innerHeight };
        if (!inside(rect, pane) || !inside(pane, frame) || rect.height === 0) faults.push(n);
      }
    }
  }
  return faults;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def demo() -> Recording:
    """The demo of step05."""
    (recording,) = recorded(find_step("05"), "", "")
    return recording


@pytest.fixture(scope="module")
def no_validate() -> list[Recording]:
    """The demo of step05, as shipped and without the validation."""
    return recorded(find_step("05"), "no-validate", "")


@pytest.fixture(scope="module")
def no_append() -> list[Recording]:
    """The demo of step04, as shipped and without the append."""
    return recorded(find_step("04"), "no-append", "")


@pytest.fixture(scope="module")
def context_of(browser: Browser) -> Any:
    """Return a browser without a network, in a colour scheme and a language."""

    @cache
    def made(scheme: Scheme, locale: str) -> BrowserContext:
        return browser.new_context(color_scheme=scheme, locale=locale, offline=True)

    return made


@pytest.fixture
def open_page(context_of: Any, tmp_path: Path) -> Iterator[Any]:
    """Open the page of some recordings; whatever the browser complains of is a failure."""
    complaints: list[str] = []
    pages: list[Page] = []

    def open_it(
        recordings: list[Recording],
        *,
        at: str = "",
        size: tuple[int, int] = (1366, 768),
        scheme: Scheme = "light",
        locale: str = "en-GB",
    ) -> Page:
        file = tmp_path / "trace.html"
        file.write_text(page_of(recordings), "utf-8", errors="backslashreplace")
        page: Page = context_of(scheme, locale).new_page()
        pages.append(page)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{file.as_uri()}{at}")
        return page

    yield open_it
    for page in pages:
        page.evaluate("localStorage.clear()")
        page.close()
    assert complaints == []


def press(page: Page, *keys: str) -> list[Any]:
    """Press keys where the focus is, and return what the page shows after each."""
    found: list[Any] = page.evaluate(PRESSED % (SHOWN + PRESS), list(keys))
    return found


def shown(page: Page) -> Any:
    return page.evaluate(f"() => {{ {SHOWN} return shown(); }}")


def step_of(page: Page) -> int:
    return int(page.locator("#slider").input_value())


def replay(recording: Recording, place: int) -> dict[str, Any]:
    """Return what the page has to show of a moment, computed from the recording alone."""
    moment = recording.moments[place]
    spot = (moment.file, moment.line)
    visits = sum((m.file, m.line) == spot for m in recording.moments[: place + 1])
    return {
        "screen": recording.screen[: moment.screen],
        "history": [[m.role, m.text] for m in recording.history_at(moment)],
        "boxes": [f"×{visits}"],
        "value": moment.value and f"→ {moment.value}",
    }


def agrees(lanes: list[Any], recordings: list[Recording], places: list[int]) -> None:
    for lane, recording, place in zip(lanes, recordings, places, strict=True):
        wanted = replay(recording, place)
        assert {key: lane[key] for key in wanted} == wanted
        assert lane["lit"][0] == recording.moments[place].line


def predict(page: Page, *answers: str) -> None:
    """Answer the questions, or none of them."""
    for number, answer in enumerate(answers):
        page.fill(f"[name=answer-{number}]", answer)
    page.click("dialog form .main")


# Statement by statement.


def test_every_statement_is_reached_forwards_and_backwards(
    open_page: Any, no_append: list[Recording]
) -> None:
    page = open_page(no_append, at="#2")
    page.evaluate("prediction.answers = []; document.getElementById('pieces').click()")
    walk = timeline(no_append)
    forth = press(page, "ArrowLeft", *["ArrowRight"] * (len(walk) - 1))
    back = press(page, *["ArrowLeft"] * (len(walk) - 1))
    for states, way in ((forth, walk), (back, walk[-2::-1])):
        for state, places in zip(states, way, strict=True):
            agrees(state, no_append, places)


def test_pieces_of_a_text_are_one_move_unless_asked_for(open_page: Any, demo: Recording) -> None:
    page = open_page([demo])
    left_out = folded(demo)
    statements = [place for place in range(len(demo.moments)) if place not in left_out]
    moves = press(page, *["ArrowRight"] * (len(statements) - 1))
    for (state,), place in zip(moves, statements[1:], strict=True):
        assert state["step"] == place + 1
        agrees([state], [demo], [place])
    page.click("#pieces")
    press(page, "Home", "ArrowRight")
    assert step_of(page) == 2


UNITS: dict[str, Any] = {
    "event": lambda now, before: now.event,
    "message": lambda now, before: now.history != before.history,
    "turn": lambda now, before: now.turn and (now.run, now.turn) != (before.run, before.turn),
    "sentence": lambda now, before: now.run != before.run,
}


def test_it_moves_by_more_than_a_statement(open_page: Any, demo: Recording) -> None:
    page, before = open_page([demo]), [Moment(0, 0, "", 1), *demo.moments]
    for unit, stops in UNITS.items():
        press(page, "Home")
        page.click(f"text='{unit}'")
        left_out = folded(demo) if unit == "event" else set()
        wanted = [
            place + 1
            for place, (now, old) in enumerate(zip(demo.moments, before, strict=False))
            if stops(now, old) and place > 0 and place not in left_out
        ]
        moves = press(page, *["ArrowRight"] * (len(wanted) + 1))
        assert [state[0]["step"] for state in moves] == [*wanted, len(demo.moments)]


def test_a_refused_tool_call_lights_its_gate(open_page: Any, demo: Recording) -> None:
    page = open_page([demo])
    place = next(
        place
        for place, moment in enumerate(demo.moments)
        if "checked.ok" in demo.sources[moment.file].split("\n")[moment.line - 1]
        and moment.value == "True"
    )
    page.evaluate("(step) => show(step)", place + 1)
    (lane,) = shown(page)
    assert lane["value"] == "→ True"
    assert page.locator(".box.lit").text_content().startswith("if not checked.ok")
    press(page, "ArrowRight")
    assert page.locator(".box.lit .words").text_content().startswith("return ToolResult(")


def test_what_never_ran_is_pale(open_page: Any, demo: Recording) -> None:
    page = open_page([demo])
    never = page.locator(".box.never .words").all_text_contents()
    assert any(text.startswith("yield StreamError") for text in never)
    assert not any(text.startswith("context.messages.append") for text in never)
    pale = page.locator(".line.never").first.locator("code")
    assert pale.evaluate("(e) => getComputedStyle(e).color") != page.locator(
        ".line:not(.never) code"
    ).first.evaluate("(e) => getComputedStyle(e).color")


def test_a_click_goes_to_the_moment_it_happened(open_page: Any, demo: Recording) -> None:
    page = open_page([demo], at=f"#{len(demo.moments)}")
    append = next(
        number
        for number, line in enumerate(demo.sources["agent_loop.py"].split("\n"), 1)
        if line.strip() == "context.messages.append(result)"
    )
    visits = [place + 1 for place, m in enumerate(demo.moments) if m.line == append]
    line = page.locator(".line").nth(append - 1)
    line.click()
    assert step_of(page) == visits[0]
    line.click()
    assert step_of(page) == visits[1]
    page.locator(".box", has_text="context.messages.append(result)").click()
    assert step_of(page) == visits[2]
    page.locator("li").nth(2).click()
    assert step_of(page) == visits[0]
    page.locator(".piece:not([hidden])", has_text="[工具调用] read_file").first.click()
    place = step_of(page) - 1
    assert demo.moments[place].event == "tool_call"
    page.go_back()
    page.wait_for_function(f"now === {visits[0]}")


# In the window, at every size.


@pytest.mark.parametrize(
    ("lanes", "size"),
    [("demo", (1366, 768)), ("no_append", (1280, 720)), ("no_validate", (1280, 720))],
)
def test_what_is_lit_is_in_sight_at_every_move(
    lanes: str, size: tuple[int, int], open_page: Any, request: pytest.FixtureRequest
) -> None:
    found = request.getfixturevalue(lanes)
    page = open_page(found if isinstance(found, list) else [found], size=size)
    assert page.evaluate(OUT_OF_SIGHT) == []
    scrolled = "[document.documentElement.scrollTop, document.documentElement.scrollWidth]"
    assert page.evaluate(scrolled) == [0, size[0]]


HOSTILE = "😀</script><script>document.title = 'hacked'</script><img src=x onerror=alert(1)>"
LONG = {
    "many characters": "算一算。" * 5000,
    "one word": "a" * 3000,
    "right to left, lines, markup": f"{'שלום עולם ' * 20}\n\n  two\n{HOSTILE}",
}


def said(demo: Recording, text: str) -> Recording:
    """Return the recording with another first sentence, and the same as a tool's result."""
    words, messages = demo.first_sentence(), list(demo.messages)
    messages[0] = dataclasses.replace(messages[0], text=text)
    place = next(n for n, message in enumerate(messages) if message.role == "toolResult")
    messages[place] = dataclasses.replace(messages[place], text=text)
    screen, grown = demo.screen.replace(words, text, 1), len(text) - len(words)
    moments = [dataclasses.replace(m, screen=m.screen + grown) for m in demo.moments]
    return dataclasses.replace(demo, messages=messages, screen=screen, moments=moments)


@pytest.mark.parametrize("text", LONG.values(), ids=list(LONG))
def test_no_text_breaks_the_page(text: str, open_page: Any, demo: Recording) -> None:
    recording = said(demo, text)
    assert len(page_of([recording]).encode("utf-8", "replace")) < 300_000
    page = open_page([recording], at="#40")
    (lane,) = shown(page)
    assert lane["history"][0] == ["user", text]
    assert lane["screen"] == recording.screen[: recording.moments[39].screen]
    assert page.title().startswith("step05_tools")
    assert page.locator("img").count() == 0
    for size in ((1366, 768), (390, 844)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        bar = page.locator("header").bounding_box()
        assert (bar["x"], bar["y"], bar["width"]) == (0, 0, size[0])
        assert bar["height"] < 150
        for pane in page.locator(".body:visible").all():
            assert pane.evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_no_line_breaks_behind_its_indentation(open_page: Any, no_append: list[Recording]) -> None:
    page = open_page(no_append, at="#1", size=(650, 720))
    lower = """(lines) => lines.filter((line) => {
      const text = document.createTreeWalker(line.querySelector("code"), NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      let node = text.nextNode();
      while (node && !node.data.trim()) node = text.nextNode();
      if (!node) return false;
      const at = node.data.search(/\\S/);
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect().top > line.getBoundingClientRect().top + 9;
    }).length"""
    assert page.locator(".line").evaluate_all(lower) == 0


def test_words_of_a_file_are_shown_as_they_are(open_page: Any) -> None:
    recording = Recording("step", "chat", sources={"a.py": "what()\n"}, asks=[Ask("1", "{rule}")])
    recording.moments = [Moment(1, 1, "a.py", 1, ask=0, ending="constructor")]
    page = open_page([recording], locale="zh-CN")
    assert shown(page)[0]["state"] == "constructor"
    assert page.locator(".asked").text_content() == '匹配串 "1"：{rule}'


@pytest.mark.parametrize(("size", "beside"), [((390, 844), False), ((640, 360), True)])
def test_a_small_window_shows_both_histories_at_once(
    size: tuple[int, int], beside: bool, open_page: Any, no_append: list[Recording]
) -> None:
    page = open_page(no_append, at="#150", size=size)
    one, other = (pane.bounding_box() for pane in page.locator(".history").all())
    for box in (one, other):
        assert box["y"] + box["height"] <= size[1]
        assert box["height"] > 100
    assert (one["y"] == other["y"]) == beside
    page.click("text='diagram'")
    assert page.locator(".history:visible").count() == 0
    assert page.locator(".box.lit:visible").count() == 2


# What the model sees.


def test_the_history_is_what_the_model_sees(open_page: Any, demo: Recording) -> None:
    page = open_page([demo], at=f"#{len(demo.moments)}")
    result = page.locator("li.toolResult").first.locator(".text")
    assert result.inner_text() == demo.messages[2].text
    assert "\n" in demo.messages[2].text
    assert page.locator(".tools summary").all_text_contents() == [
        f"{tool.name} {tool.description}" for tool in demo.tools
    ]
    assert json.loads(page.locator(".tools pre").first.text_content()) == json.loads(
        demo.tools[0].parameters
    )
    errors = page.locator("li.toolResult", has_text="参数校验失败")
    assert errors.locator(".badge", has_text="error").is_visible()
    assert page.locator("li .badge:visible", has_text="result: 3").count() == 1


def test_results_and_calls_that_are_no_pairs_are_named(open_page: Any) -> None:
    call = Call("call_1", "calc", "{}")
    messages = [
        Message("user", "1"),
        Message("assistant", calls=[call, Call("call_2", "calc", "{}")]),
        Message("toolResult", "1", answers="call_1", tool="calc"),
        Message("toolResult", "2", answers="call_9", tool="calc"),
    ]
    moments = [
        Moment(1, 1, "a.py", 1, history=n, ending="interrupted" * (n == 3)) for n in range(4)
    ]
    recording = Recording("step", "chat", sources={"a.py": "what()\n"}, messages=messages)
    recording.histories = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    recording.moments = moments
    page = open_page([recording], at="#2")
    assert page.locator(".call .badge").all_text_contents() == ["no result yet"] * 2
    press(page, "End")
    assert page.locator(".call .badge").all_text_contents() == ["result: 3", "no result"]
    assert page.locator("li.toolResult .badge:visible").all_text_contents() == [
        "result without a call"
    ]


# What is on the disk.

# For each lane: how its messages are marked, how each line of the file begins, and which are pale.
DISK = """
() => [...document.querySelectorAll(".lane")].map((lane) => [
  [...lane.querySelectorAll("li .kept")].map((e) => e.textContent),
  [...lane.querySelectorAll(".entry")].map((e) => e.querySelector(".link").textContent.trim()),
  [...lane.querySelectorAll(".entry.pale .link")].map((e) => e.textContent.slice(0, 8)),
])
"""


@pytest.fixture(scope="module")
def sessions() -> list[Recording]:
    """The demo of step06, as shipped, and saved only when a run is over."""
    main: Any = importlib.import_module("step06_sessions.main")

    async def saved(events: Any, session: Any, context: Any) -> Any:
        async for event in events:
            yield event
        main.save(session, context)

    # The browser has the event loop of this thread.
    with ThreadPoolExecutor() as thread, pytest.MonkeyPatch.context() as patch:
        intact = thread.submit(record, "step06_sessions", "", "").result()
        patch.setattr(main, "saved", saved)
        return [intact, thread.submit(record, "step06_sessions", "", "").result()]


def disk_of(recording: Recording, place: int) -> list[Any]:
    """Return what the page has to show of the disk, computed from the recording alone."""
    moment = recording.moments[place]
    lines = [recording.lines[number] for number in recording.disks[moment.disk]]
    ids = [line.id for line in lines]
    entries = [message.entry for message in recording.history_at(moment)]
    return [
        ["on disk" if entry in ids else "in memory only" for entry in entries],
        [f"{line.id} ← {line.parent}" if line.parent else line.id for line in lines],
        [line.id for line in lines if line.id not in entries],
    ]


def test_what_is_on_disk_is_shown_forwards_and_backwards(
    open_page: Any, sessions: list[Recording]
) -> None:
    page = open_page(sessions, at="#1", size=(390, 844))
    wanted = [list(map(disk_of, sessions, places)) for places in timeline(sessions)]
    # Before and behind each change; in between all stays as it is.
    changes = [n for n, (one, other) in enumerate(pairwise(wanted)) if one != other]
    stops = sorted({0, len(wanted) - 1, *changes, *(n + 1 for n in changes)})
    show = f"(stops) => stops.map((stop) => {{ show(stop + 1); return ({DISK})(); }})"
    assert page.evaluate(show, stops) == [wanted[stop] for stop in stops]
    assert page.evaluate(show, stops[::-1]) == [wanted[stop] for stop in stops[::-1]]
    first, late = wanted[0]
    assert first == [["on disk"], ["00000001", "00000002"], ["00000001"]]
    assert late == [["in memory only"], [], []]
    assert wanted[-1][0][2] == ["00000001", "00000006", "00000007"]  # The branch that was left.


def test_the_lines_of_the_file_unfold_and_lead_to_their_moments(
    open_page: Any, sessions: list[Recording]
) -> None:
    page = open_page(sessions, at="#9999", size=(390, 844), locale="zh-CN")
    assert page.locator(".disk summary").all_inner_texts() == ["磁盘上 11 行"] * 2
    assert page.locator(".entry:visible").count() == 0
    page.locator(".disk summary").first.click()
    page.wait_for_function("lanes.every((lane) => lane.disk.open)")
    for entries in page.locator(".entries").all():
        box = entries.bounding_box()
        assert box["y"] + box["height"] < 844
        last = entries.locator(".entry").last.bounding_box()
        assert last["y"] + last["height"] <= box["y"] + box["height"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator(".entry", has_text="call_1 96").first.click()
    places = [m.disk for m in sessions[0].moments]
    assert walk_place(page, sessions) == places.index(len(sessions[0].disks) - 8)


def walk_place(page: Page, recordings: list[Recording]) -> int:
    """Return the place of the moment at which the first lane stands."""
    return timeline(recordings)[step_of(page) - 1][0]


def test_a_line_that_is_gone_from_the_file_is_gone_from_the_list(open_page: Any) -> None:
    recording = Recording("step", "chat", sources={"a.py": "what()\n"})
    recording.lines = [Line("session", "1"), Line(text="{torn"), Line("user", "2", "1")]
    recording.disks = [[], [0, 1], [0, 2]]
    recording.moments = [Moment(1, 1, "a.py", 1, disk=disk) for disk in (1, 1, 2)]
    page = open_page([recording])
    show = f"(stops) => stops.map((stop) => {{ show(stop); return ({DISK})()[0][1]; }})"
    torn, whole = ["1", ""], ["1", "2 ← 1"]
    assert page.evaluate(show, [1, 2, 3, 1]) == [torn, torn, whole, torn]


# Predict, then see why.


def test_it_asks_before_the_runs_part_and_then_says_what_broke(
    open_page: Any, no_append: list[Recording]
) -> None:
    page, part = open_page(no_append), parting(no_append)
    assert part is not None
    press(page, "End")
    assert step_of(page) == part - 1
    cause = no_append[1].cause
    assert cause is not None
    dialog = page.locator("dialog")
    for question in cause.questions:
        assert question.ask in dialog.text_content()
        assert question.answer not in dialog.locator("dd").all_text_contents()
    assert cause.why not in dialog.text_content()
    predict(page, "是的", cause.questions[1].answer_zh, "not at all")
    badges = dialog.locator("dd.said .badge").all_text_contents()
    assert badges == ["right", "right", "not quite"]
    text = dialog.text_content()
    for words in (cause.why, cause.file, *(question.answer for question in cause.questions)):
        assert words in text
    assert dialog.locator(".diff .minus").text_content() == "- context.messages.append(result)"
    assert "every call has its result" in text
    assert "call call_1 has no result" in text
    assert "toolResult: 96" in text
    assert dialog.evaluate("(e) => e.scrollTop") == 0
    assert dialog.locator(".main").bounding_box()["y"] < 768
    dialog.locator(".main").click()
    assert step_of(page) == part
    press(page, "End")
    assert step_of(page) == len(timeline(no_append))


def test_what_differs_first_is_tinted_in_both_lanes(
    open_page: Any, no_append: list[Recording]
) -> None:
    page = open_page(no_append, at="#9999")
    differs = difference(*no_append)
    assert differs.messages is not None
    assert differs.lines is not None
    messages = page.locator("li.differs .text").all_text_contents()
    rows = page.locator(".row.differs").all_text_contents()
    for lane, recording in enumerate(no_append):
        place, (start, end) = differs.messages[lane], differs.lines[lane]
        assert place is not None
        assert messages[lane] == recording.messages[place].text
        assert rows[lane].rstrip("\n") == recording.screen[start:end]
    assert page.locator(".line.changed").count() == 1
    # A step without sessions has nothing on a disk.
    assert page.locator(".disk, .entries, .kept").count() == 0
    assert "disk" not in page.locator("main").inner_text()


def test_a_lane_that_has_ended_says_so_and_is_grey(open_page: Any) -> None:
    lanes = recorded(find_step("05"), "exception-through", "")
    page = open_page(lanes, at="#9999")
    states = [lane["state"] for lane in shown(page)]
    assert ["ended" in state for state in states] == [False, True]
    colours = page.locator(".line.lit").evaluate_all(
        "(lines) => lines.map((e) => getComputedStyle(e).backgroundColor)"
    )
    parts = [[int(part) for part in re.findall("[0-9]+", colour)] for colour in colours]
    spread = [max(colour) - min(colour) for colour in parts]
    assert spread[0] > 50
    assert spread[-1] < 20


def test_a_loop_that_never_began_says_so_and_is_not_seen_before_the_answer(open_page: Any) -> None:
    page = open_page(recorded(find_step("05"), "second-of-a-name", ""))
    backdrop = page.locator("dialog").evaluate(
        "(e) => getComputedStyle(e, '::backdrop').background"
    )
    assert "rgba" not in backdrop
    predict(page, "yes")
    page.locator("dialog .main").click()
    assert shown(page)[0]["state"] == "an exception outside the loop"
    assert page.locator(".flow-pane small").all_text_contents() == [
        "the loop never began",
        "what never ran is pale",
    ]


# Keyboard, address, languages.


def test_the_arrows_move_after_a_click_in_any_pane(open_page: Any, demo: Recording) -> None:
    page = open_page([demo], at="#60")
    for pane in ("source", "flow", "screen", "history"):
        page.locator(f".{pane}-pane h3").click()
        box = page.locator(f".body.{pane}").bounding_box()
        page.mouse.click(box["x"] + 4, box["y"] + box["height"] - 4)
        before = step_of(page)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert step_of(page) > before


def test_the_keyboard_alone_is_enough(open_page: Any, demo: Recording) -> None:
    page = open_page([demo])
    names = []
    for _ in range(13):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate(
                "(({ id, dataset, value, className }) =>"
                " dataset.go || id || value || className)(document.activeElement)"
            )
        )
    moves = ["first", "back", "play", "on", "last"]
    panes = ["body source", "body flow", "body screen", "body history"]
    assert names == ["statement", "pieces", *moves, "slider", "language", *panes]
    pane = page.locator(".source")
    pane.focus()
    page.keyboard.press("PageDown")
    page.wait_for_function("document.activeElement.scrollTop > 0 || now > 1")
    page.keyboard.press("ArrowRight")
    assert step_of(page) == 2
    page.focus("[data-go=last]")
    page.keyboard.press("Enter")
    assert step_of(page) == len(demo.moments)
    page.keyboard.press("Home")
    page.focus("[data-go=play]")
    page.keyboard.press("Space")
    page.wait_for_function("now > 2")
    page.keyboard.press("ArrowLeft")
    assert page.locator("[data-go=play]").get_attribute("aria-label") == "play"


def test_a_pane_that_tab_has_reached_scrolls(open_page: Any, demo: Recording) -> None:
    page = open_page([demo], at="#60")
    page.focus("#language")
    page.keyboard.press("Tab")
    page.keyboard.press("PageUp")
    page.wait_for_function("document.querySelector('.source').scrollTop < 300")
    assert step_of(page) == 60
    page.keyboard.press("ArrowRight")
    assert step_of(page) > 60


def test_every_moment_has_an_address(open_page: Any, demo: Recording) -> None:
    page = open_page([demo], at="#17")
    agrees(shown(page), [demo], [16])
    entries = page.evaluate("history.length")
    press(page, *["ArrowRight"] * 9)
    page.wait_for_function("location.hash === `#${now}`")
    at = step_of(page)
    assert at > 20
    assert page.evaluate("history.length") == entries + 1
    page.reload()
    agrees(shown(page), [demo], [at - 1])
    page.go_back()
    page.wait_for_function("now === 17")
    for address in ("#0", "#-3", "#x", "#"):
        page.evaluate("(address) => { show(17); location.hash = address; }", address)
        page.wait_for_function("now === 1")


def test_the_language_is_a_switch_that_stays(open_page: Any, no_append: list[Recording]) -> None:
    page = open_page(no_append, locale="zh-CN")
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert page.locator(".flow-pane h3").first.text_content().startswith("控制流")
    page.click("#language")
    page.reload()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator(".flow-pane h3").first.text_content().startswith("diagram")
    page.click("text='predict'")
    cause = no_append[1].cause
    assert cause is not None
    assert cause.questions[0].ask in page.locator("dialog").text_content()


def test_the_page_speaks_both_languages_in_full() -> None:
    texts = {path.name: path.read_text("utf-8") for path in TEMPLATES.iterdir()}
    table = re.findall(r'^  "(.*?)": "(.*?)",$', texts.pop("words.js"), re.MULTILINE)
    code = "".join(texts.values())
    said = set(re.findall(r'\bsay\("((?:[^"\\]|\\.)*)"', code))
    said |= set(re.findall(r'data-(?:say|label|title)="([^"{]+)"', code))
    endings = {flow.NO_TOOL, flow.FAILED, flow.NO_LAST_EVENT, flow.LIMIT}
    endings |= {flow.INTERRUPTED, flow.OUTSIDE, flow.RAISED, flow.STOPPED}
    assert (said | endings) - dict(table).keys() == set()
    for english, text in table:
        assert f'"{english}"' in code or english in endings
        assert re.findall(r"\{\w+\}", english) == sorted(
            re.findall(r"\{\w+\}", text), key=english.index
        )


def test_what_is_spoken_names_the_lanes_and_the_statement(
    open_page: Any, no_append: list[Recording]
) -> None:
    page = open_page(no_append, at="#40")
    press(page, "ArrowRight")
    (spoken,) = page.locator("[aria-live], [role=status], output").all_text_contents()
    line = page.locator(".line.lit code").first.text_content().strip()
    for lane in ("as shipped", "broken"):
        assert f"{lane}: sentence 1, turn 1, {line}" in spoken


@pytest.mark.parametrize(
    ("size", "scheme", "locale", "lanes"),
    [
        ((1366, 768), "dark", "en-GB", "demo"),
        ((1366, 768), "light", "zh-CN", "no_append"),
        ((390, 844), "dark", "en-GB", "sessions"),
    ],
)
def test_it_is_accessible(
    size: tuple[int, int],
    scheme: Scheme,
    locale: str,
    lanes: str,
    open_page: Any,
    request: pytest.FixtureRequest,
) -> None:
    found = request.getfixturevalue(lanes)
    recordings = found if isinstance(found, list) else [found]
    page = open_page(recordings, at="#9999", size=size, scheme=scheme, locale=locale)
    if lanes == "sessions":
        page.locator(".disk summary").first.click()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    if lanes == "no_append":
        page.click("#ask")
        predict(page, "yes")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_the_lit_line_is_seen_in_forced_colours_and_all_is_printed(
    open_page: Any, demo: Recording
) -> None:
    page = open_page([demo], at="#60")
    background = "(e) => getComputedStyle(e).backgroundColor"
    page.emulate_media(forced_colors="active")
    lit, other = page.locator(".line.lit"), page.locator(".line:not(.lit)").first
    assert lit.evaluate(background) != other.evaluate(background)
    page.emulate_media(forced_colors="none", media="print")
    assert page.locator("button:visible").count() == 0
    for pane in page.locator(".body").all():
        assert pane.evaluate("(e) => e.scrollHeight <= e.clientHeight + 1")


def test_two_long_runs_can_be_walked(open_page: Any, no_append: list[Recording]) -> None:
    runs = [long_run(recording, 600) for recording in no_append]
    runs[1].cause = None
    page = open_page(runs)
    page.evaluate("for (let n = 0; n < 50; n++) go.on()")
    press(page, "End")
    walk = timeline(runs)
    assert step_of(page) == len(walk)
    agrees(shown(page), runs, walk[-1])
