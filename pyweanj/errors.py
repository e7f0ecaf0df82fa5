"""Errors that a user can mend: one line, exit status 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["UsageError", "unknown"]


class UsageError(Exception):
    """Bad usage or bad input; the text is one line that says what is wrong and what to do."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the nearest ones that do."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or [
        k for k in known if name.lower() in k.lower()
    ]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    return UsageError(f"unknown {kind} {name!r}; {hint}")
