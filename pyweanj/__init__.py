"""Compare a computation in Enzyme.jl and in JAX: same loss and gradient, who is wrong, what cost.

Importing this package loads neither JAX nor juliacall; the names below are loaded when
they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyweanj.api import GradientCheck, Report, check_gradient, compare
    from pyweanj.example import Example, Size, Variant
    from pyweanj.inputs import (
        InputsError,
        ensure_inputs,
        inputs,
        load_inputs,
        normals,
        save_gradient,
    )
    from pyweanj.measure import time_median
    from pyweanj.records import Case, Joint, Outcome, Pair, Record
    from pyweanj.store import read_joint, write_results
    from pyweanj.verify import fd_check

__version__ = "0.1.0"

_HOME = {
    "GradientCheck": "api",
    "Report": "api",
    "check_gradient": "api",
    "compare": "api",
    "Example": "example",
    "Size": "example",
    "Variant": "example",
    "InputsError": "inputs",
    "ensure_inputs": "inputs",
    "inputs": "inputs",
    "load_inputs": "inputs",
    "normals": "inputs",
    "save_gradient": "inputs",
    "time_median": "measure",
    "Case": "records",
    "Joint": "records",
    "Outcome": "records",
    "Pair": "records",
    "Record": "records",
    "read_joint": "store",
    "write_results": "store",
    "fd_check": "verify",
}

__all__ = [
    "Case",
    "Example",
    "GradientCheck",
    "InputsError",
    "Joint",
    "Outcome",
    "Pair",
    "Record",
    "Report",
    "Size",
    "Variant",
    "check_gradient",
    "compare",
    "ensure_inputs",
    "fd_check",
    "inputs",
    "load_inputs",
    "normals",
    "read_joint",
    "save_gradient",
    "time_median",
    "write_results",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"pyweanj.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pyweanj' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
