"""A model service of our own, on this machine: real HTTP, no key, and it can misbehave."""

from .played import played_by
from .server import Loopback, Reply

__all__ = ["Loopback", "Reply", "played_by"]
