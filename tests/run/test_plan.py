"""The plan is the cross product that was asked for, and refuses what does not exist."""

from __future__ import annotations

import pytest

from pyweanj import catalogue
from pyweanj.errors import UsageError
from pyweanj.run import Options, plan

EXAMPLE = catalogue.load("02-gauss-seidel")


def planned(**options):
    return plan(EXAMPLE, Options(**options), ["cpu"])


def test_no_case_is_planned_twice():
    cases = [p.case for p in planned()]
    assert len(cases) == len(set(cases))


def test_the_default_has_every_system_variant_and_size():
    cases = {(p.case.system, p.case.variant, p.case.n, p.case.K) for p in planned()}
    for system in ("enzyme", "enzyme-cpp", "jax", "oracle"):
        for variant in ("lexicographic", "red-black"):
            assert (system, variant, 32, 20) in cases
            assert (system, variant, 1024, 100) in cases
    for K in (10, 100, 1000):
        assert ("jax", "lexicographic", 256, K) in cases


def test_one_case_carries_every_task_of_its_size():
    tasks = {p.case: p.tasks for p in planned() if p.case.system == "jax"}
    by_size = {(c.n, c.K): t for c, t in tasks.items() if c.variant == "lexicographic"}
    assert by_size[32, 20] == ("check",)
    assert by_size[256, 100] == ("time", "memory")
    assert by_size[256, 10] == ("memory",)


def test_the_oracle_is_never_timed():
    assert {p.tasks for p in planned() if p.case.system == "oracle"} == {("check",)}


def test_without_timing_only_the_check_size_is_left():
    assert {(p.case.n, p.case.K) for p in planned(tasks=("check",))} == {(32, 20)}


def test_without_check_the_check_size_and_the_oracle_are_gone():
    found = planned(tasks=("time", "memory"))
    assert (32, 20) not in {(p.case.n, p.case.K) for p in found}
    assert "oracle" not in {p.case.system for p in found}


def test_sizes_and_sweeps_replace_the_timing_sweep():
    sizes = {(p.case.n, p.case.K) for p in planned(sizes=(8, 16), sweeps=(0, 3))}
    assert sizes == {(32, 20), (8, 0), (16, 0), (8, 3), (16, 3)}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"systems": ("enzym",)}, "unknown system 'enzym'; did you mean enzyme"),
        ({"variants": ("redblack",)}, "did you mean red-black"),
        ({"devices": ("gpus",)}, "did you mean gpu"),
        ({"dtypes": ("float16",)}, "unknown dtype"),
        ({"require": ("julia",)}, "unknown system 'julia'"),
        ({"sizes": (0,)}, "n = 0 is no size"),
        ({"sweeps": (-1,)}, "K = -1 is no number of sweeps"),
        ({"systems": ("oracle",), "devices": ("gpu",)}, "nothing to run"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest(options, text):
    with pytest.raises(UsageError, match=text):
        planned(**options)
