"""Writing files, so that a full disk is told by the name of the file and in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

__all__ = ["writing"]

#: What a file takes beyond its data: headers, attributes, whole blocks.
MARGIN = 1 << 16


@contextlib.contextmanager
def writing(path: Path, needed: int = 0) -> Iterator[None]:
    """`path`, in a folder that exists, is being written.

    Parameters
    ----------
    needed
        Bytes of data.  Where there is not so much room nothing is begun: HDF5 may crash when a
        disk fills up under it.

    Raises
    ------
    OSError
        Whatever the system or HDF5 says went wrong, with the file's name.
    """
    if needed and shutil.disk_usage(path.parent).free < needed + MARGIN:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    try:
        yield
    except (OSError, RuntimeError) as error:
        number = getattr(error, "errno", None)
        if number is not None and getattr(error, "filename", None):
            raise
        text = str(error)
        if f"errno = {errno.ENOSPC}" in text:
            number = errno.ENOSPC
        reason = os.strerror(number) if number else text.partition("\n")[0] or "cannot be written"
        raise OSError(number or errno.EIO, reason, str(path)) from error
