"""The one error that a command may end with."""


class UsageError(Exception):
    """Something a user can put right; its text says how, in one line. Exit status 2."""
