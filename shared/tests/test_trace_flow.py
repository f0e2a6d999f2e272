"""The control flow of a loop, read from its source alone."""

import textwrap

import pytest

from shared.steps import find_step
from shared.trace.flow import Flow, flow_of

TEXTS: tuple[tuple[str, dict[int, list[int]]], ...] = (
    ("yield A()\nif x:\n    yield B()\nyield C()\n", {0: [1], 1: [2, 3], 2: [3], 3: []}),
    (
        "while True:\n    yield A()\n    if x:\n        break\nyield B()\n",
        {0: [1], 1: [2], 2: [3, 0], 3: [4], 4: []},
    ),
    (
        "for x in y:\n    if x:\n        continue\n    a()\nelse:\n    b()\nc()\n",
        {0: [1, 4], 1: [2, 3], 2: [0], 3: [0], 4: [5], 5: []},
    ),
    (
        "try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()\nd()\n",
        {0: [1, 3], 1: [2, 3], 2: [3], 3: [4], 4: []},
    ),
    ("if x:\n    a()\n    return\nelif y:\n    b()\n", {0: [1, 3], 1: [2], 2: [], 3: [4], 4: []}),
    ("if x:\n    return\nelse:\n    if y:\n        b()\n", {0: [1, 2], 1: [], 2: [3], 3: []}),
    (
        "match x:\n    case 1:\n        a()\n    case 2:\n        b()\nc()\n",
        {0: [1], 1: [2, 3], 2: [5], 3: [4, 5], 4: [5], 5: []},
    ),
    (
        "match x:\n    case 1:\n        a()\n    case _:\n        b()\nc()\n",
        {0: [1], 1: [2, 3], 2: [5], 3: [4], 4: [5], 5: []},
    ),
    ("async with aclosing(f(x)) as s:\n    a()\nb()\n", {0: [1], 1: [2], 2: []}),
    ('"""Words."""\nx: int\na()\n', {0: []}),
)


def flow_of_body(body: str, more: str = "") -> Flow:
    source = f"async def run_agent_loop(context, tools):\n{textwrap.indent(body, '    ')}\n{more}"
    return flow_of({"agent_loop.py": source})


@pytest.mark.parametrize(("body", "after"), TEXTS)
def test_every_shape_of_statement_has_a_flow(body: str, after: dict[int, list[int]]) -> None:
    flow = flow_of_body(body)
    assert {number: flow.after(number) for number in range(len(flow.boxes))} == after
    for number, box in enumerate(flow.boxes):
        assert flow.box_at("agent_loop.py", box.line) == number


def test_the_loop_of_the_chapter_is_what_can_come_after_what() -> None:
    flow = flow_of({"x.py": (find_step("04") / "agent_loop.py").read_text("utf-8")})
    loop = [n for n, box in enumerate(flow.boxes) if box.function == "run_agent_loop"]
    text = {f"{n} {flow.boxes[n].kind} {flow.boxes[n].text}": flow.after(n) for n in loop}
    assert text == {
        "0 loop for turn in range(1, max_turns + 1)": [1, 23],
        "1 event yield TurnStart(turn)": [2],
        "2 do assistant = None": [3],
        "3 ask stream_fn(context, stream_options)": [4],
        "4 loop async for event in stream": [5, 10],
        "5 event yield event": [6],
        "6 if if event.type == 'done'": [7, 8],
        "7 do assistant = event.message": [4],
        "8 if elif event.type == 'error'": [9, 4],
        "9 out return": [],
        "10 if if assistant is None": [11, 12],
        "11 out return": [],
        "12 do context.messages.append(assistant)": [13],
        "13 do tool_calls = tool_calls_of(assistant)": [14],
        "14 if if not tool_calls": [15, 17],
        "15 event yield TurnEnd(turn)": [16],
        "16 out return": [],
        "17 loop for tool_call in tool_calls": [18, 22],
        "18 event yield ToolCallStarted(tool_call)": [19],
        "19 do result = await execute_tool_call(…)": [20],
        "20 do context.messages.append(result)": [21],
        "21 event yield ToolCallFinished(…)": [17],
        "22 event yield TurnEnd(turn)": [0],
        "23 event yield StreamError(…)": [],
    }


def test_the_functions_of_the_same_file_that_the_loop_awaits_are_followed() -> None:
    body = "await near()\nplain()\nawait self.method()\nawait far()\n"
    loop = f"async def run_agent_loop():\n{textwrap.indent(body, '    ')}"
    near = (
        "async def near():\n    await nearer()\n\n"
        "async def nearer():\n    a()\n\ndef plain():\n    pass\n"
    )
    other = "async def far():\n    a()\n\nasync def method():\n    b()\n"
    flow = flow_of({"agent_loop.py": f"{loop}\n{near}", "other.py": other})
    functions = [(box.file, box.function) for box in flow.boxes]
    assert list(dict.fromkeys(functions)) == [
        ("agent_loop.py", "run_agent_loop"),
        ("agent_loop.py", "near"),
        ("agent_loop.py", "nearer"),
    ]


@pytest.mark.parametrize(
    "source",
    ["def (", "", "\0", "x = 1", f"async def run_agent_loop():\n    {'(' * 500}{')' * 500}"],
)
def test_a_source_without_a_loop_has_no_boxes(source: str) -> None:
    assert flow_of({"agent_loop.py": source}) == Flow()
