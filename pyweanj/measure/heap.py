"""Free memory of the C library's heap, which would hide what a call needs.

A peak of resident memory tells what a call needs only if that call cannot be served from
memory that earlier calls freed and that is still resident.  glibc keeps such memory.  Its
own remedy, ``malloc_trim``, does two wrong things here: it never gives back the free end of
any heap but the first thread's, so that of 4.7 MiB that XLA needed in every call most calls
showed nothing; and it punches out the small gaps too, which many small allocations then touch
again one by one, so that a call that needs 0.1 MiB showed 24.

So the worker lets all threads share one heap (`share_heap`), and around a measurement only
the large free blocks are taken out of that heap and their pages given back (`drained`).
Elsewhere than with glibc on Linux both do nothing, and say so.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["drained", "share_heap"]

BLOCK = 128 * 1024
"""Free blocks of at least this size are drained; glibc maps larger ones afresh by default."""
SETTLE_S = 0.02
MOST_BLOCKS = 1_000_000

_M_ARENA_MAX = -8
_MADV_DONTNEED = 4


def share_heap() -> bool:
    """Make all threads of this process allocate from one heap; returns whether that was done.

    Call it before other threads exist.  The number of page faults of a call, and with it the
    call's time, stays what it was.
    """
    libc = _libc()
    return libc is not None and libc.mallopt(_M_ARENA_MAX, 1) == 1


@contextmanager
def drained() -> Iterator[int]:
    """Context in which the heap has no large free block; gives the bytes that were drained.

    They are free again afterwards.
    """
    gc.collect()
    # Threads of the system may still be freeing what they held for the last call.
    time.sleep(SETTLE_S)
    libc = _libc()
    if libc is None:
        yield 0
        return
    blocks: list[int] = []
    try:
        # A block at or beyond this end is new memory: there is no free one left.
        end = libc.sbrk(0)
        while len(blocks) < MOST_BLOCKS:
            block = libc.malloc(BLOCK)
            if not block or block + BLOCK > end:
                libc.free(block)
                break
            blocks.append(block)
        page = mmap.PAGESIZE
        for block in blocks:
            first = -(-block // page) * page
            last = (block + BLOCK) // page * page
            libc.madvise(first, last - first, _MADV_DONTNEED)
        yield len(blocks) * BLOCK
    finally:
        for block in blocks:
            libc.free(block)


def _libc() -> ctypes.CDLL | None:
    """The C library of this process where it is glibc on Linux, its functions declared."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "gnu_get_libc_version"):
        return None
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.sbrk.restype = ctypes.c_void_p
    libc.sbrk.argtypes = [ctypes.c_ssize_t]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc
