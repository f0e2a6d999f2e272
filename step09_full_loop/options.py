"""What can be said on the command line: which session to begin, or to go on with."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .harness_types import StreamFn
from .providers import PROVIDERS, ProviderError, service_model
from .terminal import visible_line


class Parser(argparse.ArgumentParser):
    """A mistake is one line that says what to do, and exit status 2."""

    def error(self, message: str) -> NoReturn:
        print(f"参数不对：{visible_line(message)}（--help 看用法）", file=sys.stderr)
        sys.exit(2)


@dataclass(frozen=True, slots=True)
class Options:
    """At most one of the latest session, that of a file, a list of all, or none; and the rest."""

    resume: bool
    session: Path | None
    list: bool
    no_session: bool
    extension: Sequence[Path]
    yes: bool
    provider: str
    model: str | None
    base_url: str | None


def a_file(name: str) -> Path:
    if not Path(name).is_file():
        raise argparse.ArgumentTypeError(f"没有 {name} 这个文件")
    return Path(name)


def parse_options(arguments: Sequence[str]) -> Options:
    """Return what the arguments say; a mistake ends the program."""
    parser = Parser(prog=f"python -m {__package__}", allow_abbrev=False, add_help=False)
    parser.add_argument("--help", action="help", help="显示这些说明")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", dest="resume", action="store_true", help="接着这个文件夹里最近的会话"
    )
    which.add_argument("--session", type=Path, metavar="FILE", help="接着这个文件里的会话")
    which.add_argument("--list", action="store_true", help="列出这个文件夹里的会话")
    which.add_argument("--no-session", action="store_true", help="这次不保存")
    parser.add_argument(
        "--extension", type=a_file, metavar="FILE", action="append", default=[], help="载入一个扩展"
    )
    parser.add_argument("--yes", action="store_true", help="运行命令前不询问")
    parser.add_argument(
        "--provider", choices=PROVIDERS, default="fake", help="由谁回答：剧本，或一个模型服务"
    )
    parser.add_argument("--model", metavar="NAME", help="模型服务的哪个模型")
    parser.add_argument("--base-url", metavar="URL", help="模型服务的地址，比如自己机器上的")
    options = Options(**vars(parser.parse_args(arguments)))
    if options.provider == "fake" and (options.model or options.base_url):
        parser.error("--model 和 --base-url 要和 --provider 一起用")
    return options


def chosen_model(options: Options) -> StreamFn | None:
    """Return the model that the options name; None is the script. What is missing ends this."""
    if options.provider == "fake":
        return None
    try:
        return service_model(options.provider, options.model, options.base_url)
    except ProviderError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
