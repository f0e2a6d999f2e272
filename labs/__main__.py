"""The door of `python3 -m labs`. An old Python must be able to read this file."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write(
        "This needs Python 3.11 or newer, and %s is %d.%d. With make: PYTHON=python3.12 make ...\n"  # noqa: UP031
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(2)

from .command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
