"""Building the site; it runs in the environment of the site: python -m playground.build SITE"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .bundle import build_playground
from .pages import CHINESE, ENGLISH, Language, write_pages

HERE = Path(__file__).parent


def build(site: Path) -> None:
    """Build everything beside the site that is there, and then take its place."""
    with tempfile.TemporaryDirectory() as scratch:
        new = Path(scratch, "site")
        for language in (ENGLISH, CHINESE):
            build_pages(Path(scratch, language.name), new / language.home, language)
        build_playground(new / "playground")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(new, site)


def build_pages(folder: Path, out: Path, tongue: Language) -> None:
    """Let Zensical make the pages of one language."""
    docs = folder / "docs"
    nav = write_pages(docs, tongue)
    shutil.copytree(HERE / "theme", docs / "assets")
    words = {
        "nav": "\n".join(nav),
        "language": tongue.name,
        "to_english": tongue("./", "../"),
        "to_chinese": tongue("zh/", "./"),
        "system": tongue("As the system says", "跟随系统"),
        "light": tongue("Light", "浅色"),
        "dark": tongue("Dark", "深色"),
    }
    text = (HERE / "site.toml").read_text("utf-8")
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", value)
    (folder / "zensical.toml").write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "zensical", "build"], cwd=folder, check=True)
    shutil.copytree(folder / "out", out, dirs_exist_ok=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
