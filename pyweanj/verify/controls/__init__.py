"""Negative controls: implementations that are broken on purpose, and right ones that look odd.

Every check has to be seen failing.  `broken` has implementations in NumPy with one fault each,
which must be flagged, on the right side, with the right diagnosis; `unusual` has right ones
that must pass; `random_cases` draws a thousand of either.
"""

from pyweanj.verify.controls.broken import Control, broken
from pyweanj.verify.controls.judging import Judgement, judge, judge_pair
from pyweanj.verify.controls.random_cases import (
    LIMIT,
    RandomResult,
    random_broken,
    random_right,
)
from pyweanj.verify.controls.unusual import unusual

__all__ = [
    "LIMIT",
    "Control",
    "Judgement",
    "RandomResult",
    "broken",
    "judge",
    "judge_pair",
    "random_broken",
    "random_right",
    "unusual",
]
