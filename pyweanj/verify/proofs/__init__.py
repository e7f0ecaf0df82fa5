"""The independent proofs: each gives one `Figure` with its own pass rule.

`Proof` has their names; a name may go on after a colon (``adjoint identity: jax``).
"""

from pyweanj.verify.proofs.adjoint import adjoint_identity
from pyweanj.verify.proofs.conditions import finite, inputs_unchanged, like_for_like
from pyweanj.verify.proofs.differences import finite_differences
from pyweanj.verify.proofs.names import Proof, kind_of
from pyweanj.verify.proofs.references import agreement, devices, from_comparison, oracle
from pyweanj.verify.proofs.repeatability import calls_needed, repeatability
from pyweanj.verify.proofs.separating import separating_direction
from pyweanj.verify.proofs.taylor import taylor
from pyweanj.verify.proofs.zero import zero

__all__ = [
    "Proof",
    "adjoint_identity",
    "agreement",
    "calls_needed",
    "devices",
    "finite",
    "finite_differences",
    "from_comparison",
    "inputs_unchanged",
    "kind_of",
    "like_for_like",
    "oracle",
    "repeatability",
    "separating_direction",
    "taylor",
    "zero",
]
