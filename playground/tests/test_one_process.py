"""The event loop of a tab: whoever waits goes on in time, and nobody needs a thread."""

import asyncio
import threading

from playground.one_process import own_loop


def test_tasks_wait_for_each_other_and_for_the_clock() -> None:
    order: list[str] = []

    async def say(word: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        order.append(word)

    async def main() -> None:
        await asyncio.gather(say("late", 0.002), say("soon", 0))

    with own_loop(), asyncio.Runner() as runner:
        runner.run(main())
    assert order == ["soon", "late"]


def test_what_is_meant_for_a_thread_is_done_at_once_and_here() -> None:
    async def main() -> int:
        return await asyncio.to_thread(threading.get_ident)

    with own_loop(), asyncio.Runner() as runner:
        assert runner.run(main()) == threading.get_ident()


def test_a_failure_meant_for_a_thread_arrives() -> None:
    def fail() -> None:
        raise ValueError("no")

    async def main() -> str:
        try:
            await asyncio.to_thread(fail)
        except ValueError as error:
            return str(error)
        return ""

    with own_loop():
        assert asyncio.run(main()) == "no"


def test_a_run_can_be_cancelled() -> None:
    async def main() -> bool:
        task = asyncio.ensure_future(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return True
        return False

    with own_loop():
        assert asyncio.run(main())
