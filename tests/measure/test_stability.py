import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pyweanj.measure import machine, stability
from pyweanj.measure.stability import Readings, sample_warnings, warnings

LOOP = tuple(np.linspace(2.00e-3, 2.01e-3, 20))
QUIET = Readings(
    cores=[1],
    cpu_count=4,
    load=0.2,
    busy={0: 0.9, 1: 0.02, 2: 0.0, 3: 0.0},
    steal=0.0,
    governor="performance",
    turbo=False,
    on_battery=False,
    loop=LOOP,
)


def test_quiet_machine_gives_no_warning():
    assert warnings(QUIET) == []


def test_machine_that_tells_nothing_gives_no_warning():
    assert warnings(Readings()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"busy": {1: 0.8}, "programs": {1: ["cc1plus 812"]}}, ["core 1", "80%", "cc1plus 812"]),
        ({"load": 3.9}, ["load average is 3.9 on 4 cores"]),
        ({"steal": 0.12}, ["hypervisor", "12%"]),
        ({"governor": "powersave"}, ["governor is powersave", "cpupower"]),
        ({"turbo": True}, ["turbo is on"]),
        ({"on_battery": True}, ["battery", "plug it in"]),
        ({"loop": tuple(np.linspace(2e-3, 3e-3, 20))}, ["constant work varied by 20%"]),
    ],
)
def test_each_trouble_is_one_line_of_its_own(change, words):
    found = warnings(replace(QUIET, **change))
    assert len(found) == 1
    assert "\n" not in found[0]
    assert all(word in found[0] for word in words)


def test_a_busy_core_is_not_said_twice():
    found = warnings(replace(QUIET, load=4.0, busy={1: 1.0}))
    assert len(found) == 1


def test_one_interruption_of_the_loop_is_no_instability():
    assert warnings(replace(QUIET, loop=(*LOOP, 0.5))) == []


def test_loop_is_timed_by_the_given_clock_and_sets_the_thread_free_again():
    times = iter([0.0, 1.0, 5.0, 7.0, 7.0, 10.0])
    before = machine.affinity()
    cores = None if before is None else before[:1]
    assert stability.calibration_loop(cores, 3, clock=lambda: next(times)) == [1.0, 2.0, 3.0]
    assert machine.affinity() == before


def test_reading_this_machine():
    found = stability.read(machine.affinity(), interval_s=0.05)
    assert len(found.busy) == found.cpu_count >= 1
    assert all(0 <= part <= 1 for part in found.busy.values())
    assert len(found.loop) == 20
    assert min(found.loop) > 0
    assert all("\n" not in line for line in warnings(found))


def steady(count, noise=0.01):
    return np.exp(noise * np.random.default_rng(2).standard_normal(count))


def test_compile_leaked_into_the_first_sample_is_flagged():
    x = steady(10)
    x[0] = 30.0
    (line,) = sample_warnings(x)
    assert line.startswith("the first sample took ")
    assert "compile" in line
    assert np.median(x) == pytest.approx(np.median(steady(10)), rel=0.01)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 30])
def test_steady_samples_are_not_flagged(count):
    assert sample_warnings(steady(count)) == []


def test_noise_alone_is_not_flagged():
    flagged = 0
    for seed in range(300):
        x = np.exp(0.2 * np.random.default_rng(seed).standard_normal(12))
        flagged += bool(sample_warnings(x))
    assert flagged <= 9


def test_with_three_samples_a_leak_shows_and_an_outlier_elsewhere_is_no_leak():
    assert "first sample" in sample_warnings([9.0, 1.0, 1.01])[0]
    assert sample_warnings([1.0, 9.0, 1.01]) == []


@pytest.mark.parametrize("change", [1.3, 1 / 1.3])
def test_drift_is_flagged(change):
    x = steady(20)
    x[10:] *= change
    (line,) = sample_warnings(x)
    assert "drifted" in line


@pytest.mark.parametrize("spinning", [False, True])
def test_a_core_is_as_busy_as_it_is(spinning):
    cores = machine.affinity()
    if cores is None:
        pytest.skip("the system does not bind processes to cores")
    core = cores[-1]
    code = f"import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    process = None
    if spinning:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        process.stdout.readline()
    try:
        # What else the machine does only adds to it: the least of several looks counts.
        busy = min(stability.read([core]).busy[core] for _ in range(5))
    finally:
        if process is not None:
            process.kill()
            process.communicate()
    assert busy > 0.8 if spinning else busy < 0.8
