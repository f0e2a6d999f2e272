"""Keeping other processes away from a file while this one has it open.

The operating system ends such a lock with the process, however that ends. So no lock is ever left
over, as a lock file would be after a power cut.
"""

import io
import os
import sys

if sys.platform == "win32":
    import msvcrt

    # Others cannot even read what is locked there, so this is one byte that the file never reaches.
    LOCKED_BYTE = 2**62

    def lock(file: io.FileIO) -> None:
        """Lock an open file, or raise BlockingIOError at once if somebody else has it."""
        os.lseek(file.fileno(), LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None

else:
    import fcntl

    def lock(file: io.FileIO) -> None:
        """Lock an open file, or raise BlockingIOError at once if somebody else has it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
