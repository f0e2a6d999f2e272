"""Who answers: the script of this step, or a service. An SDK is imported only when it is chosen."""

import os
from importlib import import_module

from ..harness_types import StreamFn
from .sdk_model import SdkModel

# Of each: the module and the class, and the variables that hold the key and the server's address.
SERVICES = {
    "openai": ("openai_chat", "OpenAIChat", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": (
        "anthropic_messages",
        "AnthropicMessages",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
    ),
}
PROVIDERS = ["fake", *SERVICES]
NO_KEY = "no-key"  # A server of one's own asks for none, but the SDKs want something to send.


class ProviderError(Exception):
    """There is no such model to talk to. The text says what to do."""


def service_model(provider: str, model: str | None, base_url: str | None) -> StreamFn:
    """Return the model behind a service; the key comes from the environment and nowhere else.

    ProviderError if the model, the key or the SDK is missing.
    """
    if provider not in SERVICES:
        raise ProviderError(f"没有叫 {provider} 的模型服务，可以用：{'、'.join(SERVICES)}")
    module, name, key_name, base_url_name = SERVICES[provider]
    if not model:
        raise ProviderError(f"--provider {provider} 还要用 --model 说明是哪个模型")
    base_url = base_url or os.environ.get(base_url_name) or None
    key = os.environ.get(key_name, "").strip() or (NO_KEY if base_url else "")
    if not key:
        raise ProviderError(
            f"没有密钥，请先设置环境变量 {key_name}，或用 --base-url 指向自己的服务"
        )
    try:
        service: type[SdkModel] = getattr(import_module(f".{module}", __name__), name)
    except ImportError as error:
        raise ProviderError(
            f"没有装好 {provider} 的 SDK（{error}），先运行：pip install '.[providers]'"
        ) from None
    return service(model, key, base_url)
