"""What `make site` says, in English or in Chinese; chinese.toml is its table."""

from pathlib import Path

from shared.language import Language

say = Language(Path(__file__).with_name("chinese.toml")).say
