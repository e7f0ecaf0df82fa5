import math

import numpy as np
import pytest

from pyweanj.measure import Rule, calibrate, interleave, seeds_rule
from tests.measure.simulated import Machine


def rng():
    return np.random.default_rng(3)


def fixed(rounds):
    return Rule(goal=0.0, min_rounds=rounds, max_rounds=rounds)


@pytest.mark.parametrize("seconds", [1e-7, 3e-6, 1e-4, 5e-3, 0.019, 0.021, 0.3, 4.0])
def test_calibrated_sample_is_long_enough_and_not_much_longer(seconds):
    machine = Machine()
    sample = machine.sampler(seconds)
    calls = calibrate(sample, 0.02, tick_s=1e-7)
    assert calls * seconds >= 0.02
    assert calls == 1 or calls * seconds <= 0.05


def test_calibration_lasts_as_long_as_a_coarse_clock_needs():
    machine = Machine()
    assert calibrate(machine.sampler(0.1), 0.02, tick_s=1e-3) * 0.1 >= 1.0


def test_long_call_is_calibrated_by_one_call():
    machine = Machine()
    assert calibrate(machine.sampler(4.0, name="x"), tick_s=1e-7) == 1
    assert machine.log == ["x"]


def test_cold_first_call_does_not_make_samples_too_short():
    machine = Machine()
    calls = calibrate(machine.sampler(1e-4, first=0.2), 0.02, tick_s=1e-7)
    assert calls * 1e-4 >= 0.02


def test_calibration_ends_for_a_function_that_takes_no_time():
    warm = iter([1.0])
    assert calibrate(lambda _: next(warm, 0.0), 2.0, tick_s=1e-9, max_calls=5000) == 5000


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0])
def test_calibration_refuses_what_is_not_a_time(value):
    with pytest.raises(ValueError, match="not the time of a call"):
        calibrate(lambda _: value, tick_s=1e-7)


def test_each_round_takes_every_sampler_once_in_a_fresh_order():
    machine = Machine()
    keys = "abcde"
    samples = interleave(
        {k: machine.sampler(0.1, name=k) for k in keys},
        1,
        fixed(20),
        rng=rng(),
        clock=machine.clock,
    )
    rounds = [machine.log[i : i + 5] for i in range(0, 100, 5)]
    assert all(sorted(r) == list(keys) for r in rounds)
    assert len({tuple(r) for r in rounds}) > 10
    assert [s.key for s in samples.raw] == machine.log
    assert [s.position for s in samples.raw[:5]] == [0, 1, 2, 3, 4]
    # The same seed gives the same order.
    again = Machine()
    interleave({k: again.sampler(0.1, name=k) for k in keys}, 1, fixed(20), rng=rng())
    assert again.log == machine.log


def test_samples_are_per_call():
    machine = Machine()
    samplers = {"a": machine.sampler(0.5), "b": machine.sampler(2e-3)}
    samples = interleave(samplers, {"a": 1, "b": 10}, fixed(3), rng=rng(), clock=machine.clock)
    assert samples.seconds("a") == pytest.approx([0.5] * 3)
    assert samples.seconds("b") == pytest.approx([2e-3] * 3)
    assert samples.calls == {"a": 1, "b": 10}


def test_stops_once_every_interval_is_narrow():
    machine = Machine()
    samplers = {"quiet": machine.sampler(0.1, 1e-3), "also": machine.sampler(0.2, 1e-3)}
    samples = interleave(samplers, 1, Rule(min_rounds=7), rng=rng(), clock=machine.clock)
    assert samples.stopped == "narrow"
    assert len(samples.seconds("quiet")) == 7


def test_one_noisy_sampler_keeps_all_going():
    machine = Machine()
    samplers = {"quiet": machine.sampler(0.1, 1e-3), "noisy": machine.sampler(0.2, 0.15)}
    rule = Rule(goal=0.05, max_rounds=200)
    samples = interleave(samplers, 1, rule, rng=rng(), clock=machine.clock)
    assert samples.stopped == "narrow"
    assert len(samples.seconds("noisy")) == len(samples.seconds("quiet")) > 20
    found = samples.interval("noisy")
    assert found is not None
    assert found.half_width <= 0.05


def test_stops_at_the_most_rounds_where_it_never_gets_narrow():
    machine = Machine()
    samples = interleave(
        {"a": machine.sampler(0.1, 1.0)}, 1, Rule(max_rounds=12), rng=rng(), clock=machine.clock
    )
    assert (samples.stopped, len(samples.raw)) == ("rounds", 12)


def test_ratios_asked_for_must_be_narrow_too():
    # Each key alone is quiet; only their ratio, of independent noise, is wider than the goal.
    def run(ratios):
        machine = Machine(seed=5)
        samplers = {k: machine.sampler(0.1, 0.02) for k in "ab"}
        rule = Rule(goal=0.014, max_rounds=200)
        return interleave(samplers, 1, rule, rng=rng(), ratios=ratios, clock=machine.clock)

    without, with_ratio = run([]), run([("a", "b")])
    assert len(with_ratio.raw) > len(without.raw)
    found = with_ratio.ratio("a", "b")
    assert found is not None
    assert found.half_width <= 0.014


def test_ratio_of_an_unknown_key_is_refused_before_any_sample():
    machine = Machine()
    with pytest.raises(KeyError, match="'c'"):
        interleave({"a": machine.sampler(1.0)}, 1, rng=rng(), ratios=[("a", "c")])
    assert machine.log == []


@pytest.mark.parametrize(("budget", "rounds"), [(3.5, 3), (5.0, 5), (5.9, 5), (0.0, 3)])
def test_budget_bounds_the_whole_but_a_floor_is_kept(budget, rounds):
    machine = Machine()
    samples = interleave(
        {"a": machine.sampler(1.0)},
        1,
        Rule(goal=0.0, max_rounds=50, budget_s=budget, floor_rounds=3),
        rng=rng(),
        clock=machine.clock,
    )
    assert (samples.stopped, len(samples.raw)) == ("budget", rounds)
    assert samples.elapsed_s == pytest.approx(rounds)


def test_where_the_budget_ends_the_costly_rest_and_the_cheap_go_on():
    machine = Machine()
    samplers = {
        "slow": machine.sampler(10.0, 0.001),
        "fast": machine.sampler(0.1, 0.05),
        "faster": machine.sampler(0.05, 0.05),
    }
    rule = Rule(goal=0.02, max_rounds=500, budget_s=45.0)
    samples = interleave(samplers, 1, rule, rng=rng(), clock=machine.clock)
    counts = {key: len(samples.seconds(key)) for key in samplers}
    assert counts["slow"] == 4
    assert counts["fast"] == counts["faster"] > 10
    assert samples.stopped == "budget"
    assert samples.elapsed_s <= 45.0
    found = samples.interval("fast")
    assert found is not None
    assert found.half_width <= 0.02
    for key in samplers:
        assert [s.round for s in samples.raw if s.key == key] == list(range(counts[key]))
    slow, fast = samples.paired("slow", "fast")
    assert len(slow) == len(fast) == 4
    assert fast == samples.seconds("fast")[:4]


def test_sampler_that_raises_drops_out_and_others_go_on():
    machine = Machine()
    left = iter(range(4))

    def dying(_):
        if next(left, None) is None:
            raise ConnectionError("worker died")
        return machine.work(0.1)

    samples = interleave(
        {"dies": dying, "lives": machine.sampler(0.2)}, 1, fixed(9), rng=rng(), clock=machine.clock
    )
    assert len(samples.seconds("dies")) == 4
    assert len(samples.seconds("lives")) == 9
    assert str(samples.failures["dies"]) == "worker died"
    a, b = samples.paired("dies", "lives")
    assert len(a) == len(b) == 4


def test_all_samplers_dead_ends_it():
    def dead(_):
        raise ConnectionError("worker died")

    samples = interleave({"a": dead, "b": dead}, 1, rng=rng())
    assert samples.stopped == "failed"
    assert samples.raw == []
    assert samples.interval("a") is None
    assert samples.ratio("a", "b") is None
    assert samples.difference("a", "b") is None


@pytest.mark.parametrize("value", [math.nan, -0.5, 0.0])
def test_sampler_that_returns_no_time_drops_out(value):
    samples = interleave({"a": lambda _: value, "b": lambda _: 1.0}, 1, fixed(3), rng=rng())
    assert "not the time of a call" in str(samples.failures["a"])
    assert samples.seconds("b") == [1.0] * 3


def test_interruption_keeps_what_was_found():
    machine = Machine()
    left = iter(range(5))
    written = []

    def interrupted(_):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return machine.work(0.1)

    samples = interleave(
        {"a": interrupted, "b": machine.sampler(0.1)},
        1,
        rule=fixed(30),
        rng=rng(),
        on_sample=written.append,
        clock=machine.clock,
    )
    assert samples.stopped == "interrupted"
    assert len(samples.seconds("a")) == 5
    assert written == samples.raw  # persisted as they came


def test_what_the_callback_raises_is_not_swallowed():
    def full(_):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        interleave({"a": lambda _: 1.0}, 1, rng=rng(), on_sample=full)


@pytest.mark.parametrize(("n", "rounds"), [(32, 10), (256, 10), (512, 3), (1024, 3)])
def test_protocol_of_the_seeds(n, rounds):
    machine = Machine()
    samplers = {"a": machine.sampler(0.1), "b": machine.sampler(50.0, 0.5)}
    samples = interleave(samplers, 1, seeds_rule(n), rng=rng(), clock=machine.clock)
    assert len(samples.seconds("a")) == len(samples.seconds("b")) == rounds
    assert samples.stopped == "rounds"


@pytest.mark.parametrize(("least", "most"), [(0, 5), (6, 5)])
def test_rule_that_makes_no_sense(least, most):
    with pytest.raises(ValueError, match="min ≤ max"):
        Rule(min_rounds=least, max_rounds=most)


def test_slow_phase_of_the_machine_spoils_sequential_sampling_and_not_interleaved():
    # b takes 1.3 times as long as a; from t = 110 on the machine is half as fast.
    def slow_phase(t):
        return 2.0 if t > 110 else 1.0

    def samplers(machine):
        return {"a": machine.sampler(0.5, 0.003), "b": machine.sampler(0.65, 0.003)}

    machine = Machine(slow_phase)
    samples = interleave(samplers(machine), 1, fixed(20), rng=rng(), clock=machine.clock)
    found = samples.ratio("b", "a")
    assert found is not None
    assert found.value == pytest.approx(1.3, rel=0.01)
    assert found.low < 1.3 < found.high
    assert found.half_width < 0.05
    assert found.verdict == "slower"

    machine = Machine(slow_phase)
    one_by_one = {k: np.median([s(1) for _ in range(20)]) for k, s in samplers(machine).items()}
    assert one_by_one["b"] / one_by_one["a"] == pytest.approx(2.6, rel=0.01)


def test_slow_drift_cancels_in_ratios():
    machine = Machine(lambda t: 1.0 + (t - 100) / 40)
    samplers = {k: machine.sampler(s, 0.003) for k, s in (("a", 0.5), ("b", 0.5))}
    samples = interleave(samplers, 1, fixed(40), rng=rng(), clock=machine.clock)
    found = samples.ratio("a", "b")
    assert found is not None
    assert found.verdict == "same"
    alone = samples.interval("a")
    assert alone is not None
    assert alone.half_width > 5 * found.half_width


def test_bridge_is_the_median_difference():
    machine = Machine()
    samplers = {"inside": machine.sampler(0.010), "across": machine.sampler(0.0103)}
    samples = interleave(samplers, 1, fixed(5), rng=rng(), clock=machine.clock)
    assert samples.difference("across", "inside") == pytest.approx(3e-4)


def test_a_slow_sampler_does_not_eat_the_budget_of_the_others():
    now = [0.0]
    noise = np.random.default_rng(3)

    def sampler(seconds):
        def sample(_calls):
            now[0] += seconds
            return seconds * noise.uniform(0.5, 1.5)  # never narrow

        return sample

    found = interleave(
        {"slow": sampler(10.0), "a": sampler(1.0), "b": sampler(1.0)},
        1,
        Rule(goal=1e-6, budget_s=20.0),
        rng=np.random.default_rng(1),
        clock=lambda: now[0],
    )
    assert [len(found.seconds(key)) for key in ("slow", "a", "b")] == [3, 10, 10]
    assert found.stopped == "budget"
