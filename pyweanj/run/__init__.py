"""A run: the plan of cases, the workers, what is asked of them and in which order."""

from pyweanj.run.engine import execute, exit_status, prepare
from pyweanj.run.group import Observer, Prepared
from pyweanj.run.plan import Options, Planned, plan

__all__ = [
    "Observer",
    "Options",
    "Planned",
    "Prepared",
    "execute",
    "exit_status",
    "plan",
    "prepare",
]
