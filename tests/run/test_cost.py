"""What a case may cost, and that all ways in agree on it."""

import inspect

import pytest

import pyweanj
from pyweanj.cli.compare import compare
from pyweanj.records import Case
from pyweanj.run import Options
from pyweanj.run.cost import ONCE, Budgets


def case(system: str, n: int) -> Case:
    return Case(system, "red-black", "cpu", "float64", n, 100)


@pytest.mark.parametrize(("system", "allowed"), [("jax", 1), ("oracle", ONCE)])
def test_the_oracle_may_take_longer_since_it_is_called_once(system, allowed):
    budgets = Budgets(1.0)
    budgets.add(case(system, 64), 0.2 * allowed)
    assert budgets.refusal(case(system, 128)) == ""
    assert "over the budget" in budgets.refusal(case(system, 256))


@pytest.mark.parametrize(
    ("option", "command", "function"),
    [
        ("budget_s", "budget", "budget"),
        ("timeout_s", "timeout", "timeout"),
        ("threads", "threads", "threads"),
    ],
)
def test_defaults_are_the_same_everywhere(option, command, function):
    default = getattr(Options(), option)
    assert inspect.signature(compare).parameters[command].default == default
    assert inspect.signature(pyweanj.compare).parameters[function].default == default
