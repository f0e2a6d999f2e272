"""What the laboratory says, in English or in Chinese; chinese.toml is its table."""

from pathlib import Path

from shared.language import Language, speaks_chinese

say = Language(Path(__file__).with_name("chinese.toml")).say


def in_readers_language(page: Path) -> Path:
    """Return the page or, for a reader of Chinese, its twin, such as worksheet.zh-CN.md."""
    return page.with_suffix(f".zh-CN{page.suffix}") if speaks_chinese() else page
