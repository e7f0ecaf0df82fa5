"""What "the same" means: tolerances, measures, proofs, verdict and diagnosis.

A pure library: NumPy arrays in, findings out.  It starts no process and imports no AD system.
"""

from pyweanj.verify.evidence import Evidence, Probe
from pyweanj.verify.fd import fd_check
from pyweanj.verify.measures import Comparison, compare
from pyweanj.verify.tolerance import Tolerance, derive
from pyweanj.verify.verdict import PairVerdict, Verdict, decide, decide_pair

__all__ = [
    "Comparison",
    "Evidence",
    "PairVerdict",
    "Probe",
    "Tolerance",
    "Verdict",
    "compare",
    "decide",
    "decide_pair",
    "derive",
    "fd_check",
]
