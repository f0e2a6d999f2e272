"""What the tools say, in English or in Chinese. (The steps themselves say what the book prints.)

The English sentence stands in the code, where it is said, and is the key to its Chinese: so the
code reads without a second file, and a test can compare the two. gettext does the same, but its
tables have to be compiled, and a learner's clone should run as it is.
"""

import os
from functools import cache
from pathlib import Path


def speaks_chinese() -> bool:
    """Return whether the reader wants Chinese: LAB_LANG says so, or else the locale."""
    for name in ("LAB_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return os.environ[name].lower().startswith("zh")
    import locale  # Only now, as below: a demo that says nothing has to start fast.

    return (locale.getlocale()[0] or "").lower().startswith(("zh", "chinese"))


class Language:
    """The texts of one floor of the house."""

    def __init__(self, table: Path) -> None:
        self.table = table

    def say(self, english: str, **values: object) -> str:
        """Return a sentence in the reader's language, with `values` in the places of its {names}.

        A sentence that has no Chinese yet is said in English.
        """
        text = chinese_of(self.table).get(english, english) if speaks_chinese() else english
        return text.format(**values)


@cache
def chinese_of(table: Path) -> dict[str, str]:
    """Return a table of sentences: the English one is the key, the Chinese one the value."""
    import tomllib

    return tomllib.loads(table.read_text("utf-8"))


say = Language(Path(__file__).with_name("chinese.toml")).say
