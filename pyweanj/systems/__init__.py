"""The AD systems, one module each.

`load` imports only the module that is asked for, and no system module imports its AD
system before `System.start`.
"""

from __future__ import annotations

import importlib

from pyweanj.systems.interface import (
    Availability,
    CompileError,
    Direction,
    Implementation,
    System,
    UnavailableError,
    UnsupportedError,
    What,
)

__all__ = [
    "SYSTEMS",
    "Availability",
    "CompileError",
    "Direction",
    "Implementation",
    "System",
    "UnavailableError",
    "UnsupportedError",
    "What",
    "load",
]

#: Module and class of each system, in the order of the joint table.
SYSTEMS = {
    "enzyme": ("pyweanj.systems.enzyme", "Enzyme"),
    "enzyme-cpp": ("pyweanj.systems.enzyme_cpp", "EnzymeCpp"),
    "jax": ("pyweanj.systems.jax", "Jax"),
    "adjoint": ("pyweanj.systems.adjoint", "Adjoint"),
    "oracle": ("pyweanj.systems.oracle", "Oracle"),
}


def load(name: str) -> type[System]:
    """The class of the system called `name`; raises KeyError for an unknown one."""
    module, cls = SYSTEMS[name]
    return getattr(importlib.import_module(module), cls)
