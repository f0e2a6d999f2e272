"""`make site`: build the site into site/, and serve it on this machine if asked to."""

import functools
import hashlib
import http.server
import shutil
import subprocess

from shared import environment
from shared.errors import UsageError
from shared.steps import ROOT

from .language import say

SITE = ROOT / "site"
HERE = ROOT / "playground"
PORT = 8000


def site(serve: bool, test: bool) -> int:
    """Build the site with the locked packages of Python and of npm, which are installed once."""
    python = environment.ready_python(HERE)
    install_packages_of_npm()
    status = subprocess.run([python, "-m", "playground.build", str(SITE)], cwd=ROOT).returncode
    if test and not status:
        status = environment.run_tool("pytest", "playground/browser_tests")
    return serve_site() if serve and not status else status


def install_packages_of_npm() -> None:
    """Let npm install what package-lock.json names, if it is not there yet."""
    npm, lock = shutil.which("npm"), HERE / "package-lock.json"
    made_from = HERE / "node_modules" / "made-from.txt"
    now = hashlib.sha256(lock.read_bytes()).hexdigest()
    if made_from.exists() and made_from.read_text("utf-8") == now:
        return
    if npm is None or shutil.which("node") is None:
        raise UsageError(say("this needs Node.js 20 or newer, with npm"))
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run([npm, "ci", "--prefix", str(HERE), *quiet]).returncode:
        raise UsageError(say("npm could not install what the site is made with; it said why above"))
    made_from.write_text(now, encoding="utf-8")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files by their right types, whatever this machine thinks of them."""

    extensions_map = {  # noqa: RUF012
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *_: object) -> None:
        pass


def serve_site() -> int:
    handler = functools.partial(Handler, directory=str(SITE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler)
    except OSError as error:
        text = say("port {port} cannot be used here: {error}", port=PORT, error=error.strerror)
        raise UsageError(text) from None
    with server:
        print(say("The site is at {address}; Ctrl-C ends it.", address=f"http://127.0.0.1:{PORT}/"))
        server.serve_forever()
    return 0
