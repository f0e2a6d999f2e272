"""Building the site; it runs in the environment of the site: python -m playground.build SITE"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .bundle import build_playground
from .pages import CHINESE, ENGLISH, Language, write_pages
from .traces import build_traces

HERE = Path(__file__).parent
# What both languages take from the English half of the site.
SHARED = ("stylesheets", "images", "javascripts/bundle.*")


def build(site: Path) -> None:
    """Build everything aside, and then let it take the place of the site that is there."""
    with tempfile.TemporaryDirectory() as scratch:
        new = Path(scratch, "site")
        traces = build_traces(new / "traces")
        for language in (ENGLISH, CHINESE):
            build_pages(Path(scratch, language.name), new / language.home, language, traces)
        build_playground(new / "playground")
        write_service_worker(new)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(new, site)


def build_pages(folder: Path, out: Path, tongue: Language, traces: set[tuple[str, str]]) -> None:
    """Let Zensical make the pages of one language."""
    docs = folder / "docs"
    nav = write_pages(docs, tongue, traces)
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
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit(done.stdout)
    for page in (folder / "out").rglob("*.html"):
        page.write_text(lighter(page.read_text("utf-8"), tongue), encoding="utf-8")
    if tongue.home:
        assets = folder / "out" / "assets"
        for kind in SHARED:
            for file in assets.glob(kind):
                (shutil.rmtree if file.is_dir() else Path.unlink)(file)
    shutil.copytree(folder / "out", out, dirs_exist_ok=True)


def lighter(page: str, tongue: Language) -> str:
    """Return a page without marks that have no colour; both languages share one style sheet."""
    page = re.sub(r'<span class="(?:n|p|w)">([^<]*)</span>', r"\1", page)
    if not tongue.home:
        return page
    own = r"((?:href|src)=\")((?:\./|(?:\.\./)*)assets/(?:stylesheets/|images/|javascripts/bundle))"
    return re.sub(own, r"\1../\2", page)


def write_service_worker(site: Path) -> None:
    """Write what keeps the playground for a visit without a network."""
    files = sorted(kept_files(site), key=str)
    version = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    names = [file.relative_to(site).as_posix().removesuffix("index.html") for file in files]
    text = (HERE / "page" / "sw.js").read_text("utf-8")
    text = text.replace('"VERSION"', json.dumps(version)).replace('["FILES"]', json.dumps(names))
    (site / "sw.js").write_text(text, encoding="utf-8")


def kept_files(site: Path) -> Iterator[Path]:
    """Give all of the playground, and the worksheets that it shows."""
    yield from (file for file in (site / "playground").rglob("*") if file.is_file())
    yield from site.glob("labs/*/task*/worksheet/index.html")
    yield from site.glob("zh/labs/*/task*/worksheet/index.html")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
