"""What a provider costs: a long answer through it, beside the same bytes through the SDK alone."""

import asyncio
import importlib
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from ..steps import find_steps

DELTAS = 10_000
LIMIT = 3.0
PAIRS = 5


async def through_provider(package: str, url: str) -> int:
    """Read the answer as the loop does, and return how many deltas there were."""
    types: Any = importlib.import_module(f"{package}.harness_types")
    model = importlib.import_module(f"{package}.providers").service_model("openai", "m", url)
    async with aclosing(model(types.Context([types.user_text("go")]), None)) as events:
        return sum([event.type == "text_delta" async for event in events])


async def through_sdk(package: str, url: str) -> int:
    """Read the same with the SDK alone."""
    openai: Any = importlib.import_module("openai")
    async with (
        openai.AsyncOpenAI(api_key="none", base_url=url) as client,
        await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "go"}], stream=True
        ) as chunks,
    ):
        return sum([bool(chunk.choices[0].delta.content) async for chunk in chunks])


def ratio(package: str) -> float:
    """Return how much longer an answer takes through the provider."""
    loopback: Any = importlib.import_module(f"{package}.loopback")
    wire: Any = importlib.import_module(f"{package}.loopback.chat_wire")
    answer = wire.chat_chunk({"content": "ab"}) * DELTAS + wire.chat_chunk({}, "stop") + wire.DONE

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(answer), 16_384):
            yield answer[start : start + 16_384]

    with loopback.Loopback(lambda path, body: loopback.Reply(pieces())) as server:

        def time_of(reading: Callable[[str, str], Any]) -> float:
            started = time.perf_counter()
            if asyncio.run(reading(package, server.url)) != DELTAS:
                raise AssertionError("the answer was not read to its end")
            return time.perf_counter() - started

        time_of(through_sdk), time_of(through_provider)  # The SDK loads what it needs.
        pairs = [time_of(through_provider) / time_of(through_sdk) for _ in range(PAIRS)]
    return statistics.median(pairs)


def main() -> int:
    """Print a row for each step that has providers; exit status 1 if one is over the limit."""
    rows = {
        step.name: ratio(step.name)
        for step in find_steps().values()
        if (step / "providers").exists()
    }
    print(f"{'':20}{'10,000 deltas / SDK alone':>26}")
    for name, value in {**rows, "at most": LIMIT}.items():
        print(f"{name:20}{value:26.2f}")
    return 1 if any(value > LIMIT for value in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
