"""What is said about an exception of an SDK: what to do, and never a key."""

import pytest

from ..providers.failure import failure

KEY = "sk-nobody-may-see-this"


class APIError(Exception):
    """The errors of an SDK, as far as they are looked at."""

    status_code: int | None = None


class APIConnectionError(APIError): ...


class APITimeoutError(APIConnectionError): ...


class Errors:
    APIError: type[Exception] = APIError
    APIConnectionError: type[Exception] = APIConnectionError
    APITimeoutError: type[Exception] = APITimeoutError


def said(error: Exception, *, begun: bool = False) -> str:
    return failure(error, Errors(), begun=begun, key=KEY, key_name="THE_KEY")


def status(code: int, text: str = "no") -> APIError:
    error = APIError(text)
    error.status_code = code
    return error


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("code", [400, 401, 422, 500, None])
def test_no_sentence_shows_a_key(code: int | None, begun: bool) -> None:
    error = status(code or 0, f"Incorrect API key provided: {KEY}.")
    error.status_code = code
    assert KEY not in said(error, begun=begun)


def test_what_the_service_says_is_told_where_nothing_better_is_known() -> None:
    assert said(status(400, "n is too large")) == "模型服务拒绝了这个请求（400）：n is too large"
    assert said(status(422, "bad role")) == "模型服务拒绝了这个请求（422）：bad role"


def test_the_sentence_says_what_to_do() -> None:
    assert said(status(401)) == "模型服务不接受这个密钥（401），请检查环境变量 THE_KEY"
    assert said(status(503)) == "模型服务出错了（503），请过一会儿再试"
    assert said(APITimeoutError()) == "模型服务太久没有回应，请再试一次，或检查网络"
    assert said(APIConnectionError()) == "连不上模型服务，请检查网络和 --base-url"


def test_when_the_answer_had_begun_it_says_so() -> None:
    assert said(APIConnectionError(), begun=True) == "连接在回答的中途断了，请再试一次"
    assert said(OSError(), begun=True) == "连接在回答的中途断了，请再试一次"
    assert said(ValueError("x"), begun=True) == "读不懂模型服务发来的内容，请再试一次：x"
    assert said(ValueError("x")) == "请求没能发出去：x"
    broken = "模型服务在回答的中途出错，请再试一次：overloaded"
    assert said(APIError("overloaded"), begun=True) == broken


def test_a_long_story_is_cut() -> None:
    assert len(said(status(400, "x" * 10_000))) < 300
