"""What went wrong, in a sentence that says what to do. No sentence ever holds a key."""

from typing import Protocol

from ..tools.quoting import error_text, quoted

SENTENCES = {
    401: "模型服务不接受这个密钥（401），请检查环境变量 {key_name}",
    403: "这个密钥没有权限（403），请检查环境变量 {key_name} 和 --model",
    404: "模型服务没有这个地址或这个模型（404），请检查 --base-url 和 --model",
    408: "模型服务等得太久，放弃了（408），请再试一次",
    413: "对话太长，模型服务收不下（413），请开始一个新的会话",
    429: "请求太多，或者额度用完了（429），请过一会儿再试",
}
REFUSED = "模型服务拒绝了这个请求（{status}）：{detail}"
SERVER_ERROR = "模型服务出错了（{status}），请过一会儿再试"
TIMEOUT = "模型服务太久没有回应，请再试一次，或检查网络"
NO_CONNECTION = "连不上模型服务，请检查网络和 --base-url"
BROKEN_OFF = "连接在回答的中途断了，请再试一次"
UNREADABLE = "读不懂模型服务发来的内容，请再试一次：{detail}"
NOT_SENT = "请求没能发出去：{detail}"
IN_THE_STREAM = "模型服务在回答的中途出错，请再试一次：{detail}"


class Sdk(Protocol):
    """The errors of an SDK. Both of those that we use name them alike."""

    @property
    def APIError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def APIConnectionError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def APITimeoutError(self) -> type[Exception]: ...  # noqa: N802


def failure(error: Exception, sdk: Sdk, *, begun: bool, key: str, key_name: str) -> str:
    """Return the sentence about an exception; `begun`: the answer had begun to come.

    `key` is not shown, even if the service repeats it. `key_name` is the variable that holds it.
    """
    status: int | None = getattr(error, "status_code", None)
    if isinstance(error, sdk.APITimeoutError):
        sentence = TIMEOUT
    elif is_about_the_connection(error, sdk):
        sentence = BROKEN_OFF if begun else NO_CONNECTION
    elif isinstance(error, sdk.APIError):
        sentence = IN_THE_STREAM if begun or status is None else sentence_about(status)
    else:
        sentence = UNREADABLE if begun else NOT_SENT
    detail = quoted(masked(error_text(error), key))
    return sentence.format(status=status, detail=detail, key_name=key_name)


def is_about_the_connection(error: Exception, sdk: Sdk) -> bool:
    """Return whether an exception is the network's. Not every one comes in a class of the SDK."""
    below = type(error).__module__.startswith(("httpx", "httpcore"))
    return below or isinstance(error, sdk.APIConnectionError | OSError)


def masked(text: str, key: str) -> str:
    return text.replace(key, "***").replace(repr(key)[1:-1], "***")


def sentence_about(status: int) -> str:
    return SENTENCES.get(status, SERVER_ERROR if status >= 500 else REFUSED)
