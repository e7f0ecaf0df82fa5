import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

from pyweanj.measure import median_interval
from pyweanj.measure.memory import NOISE
from pyweanj.records import Outcome
from pyweanj.report import (
    diff,
    difference_to_json,
    difference_to_markdown,
    print_difference,
)
from pyweanj.report.uncertain import quotient
from tests.report import factory


def base(**fields):
    return factory.full(sweep=(32, 64)).model_copy(update=fields, deep=True)


def changed(position=0, *, where=lambda r: r.grad_s is not None, **fields):
    """`base` with one record altered."""
    joint = base()
    found = [k for k, r in enumerate(joint.records) if where(r)]
    k = found[position]
    joint.records[k] = joint.records[k].model_copy(update=fields)
    return joint


def slower(factor, noise=0.02, seed=3):
    """`base` and the same with one gradient slower by `factor`: fresh samples of both."""
    rng = np.random.default_rng(seed)
    joints = []
    for scale in (1.0, factor):
        joint = base()
        record = next(r for r in joint.records if r.grad_s is not None)
        samples = 0.01 * scale * np.exp(noise * rng.standard_normal(15))
        interval = median_interval(samples)
        record.grad_samples = samples.tolist()
        record.grad_s, record.grad_ci = interval.value, interval.bounds
        joints.append(joint)
    return joints


def kinds(found):
    return [(c.kind, c.regression) for c in found.changes]


@pytest.mark.parametrize("run", [base(), factory.troubled(), factory.joint([], [])])
def test_a_run_against_itself_shows_no_change(run):
    found = diff(run, run, 0.1)
    assert found.changes == ()
    assert not found.regression
    assert "no change" in difference_to_markdown(found)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("factor", "flagged"), [(1.30, True), (1.01, False), (0.7, False)])
def test_a_slower_gradient_is_flagged_and_noise_is_not(factor, flagged, seed):
    found = diff(*slower(factor, seed=seed), threshold=0.1)
    assert found.regression is flagged
    if flagged:
        assert [(c.kind, c.aspect) for c in found.changes] == [("time", "gradient time")]


def test_a_faster_gradient_is_told_and_is_no_regression():
    found = diff(*slower(0.7))
    assert kinds(found) == [("time", False)]
    assert found.changes[0].size.startswith("−") or found.changes[0].size.startswith("-")


def test_a_change_below_the_threshold_is_told_and_is_no_regression():
    found = diff(*slower(1.3), threshold=0.5)
    assert kinds(found) == [("time", False)]


def test_what_is_too_uncertain_is_said_to_be():
    found = diff(*slower(1.2, noise=0.4))
    assert not found.regression
    assert any("too uncertain to tell" in note for note in found.notes)


def test_times_of_other_machines_are_refused_unless_told():
    a, b = slower(1.3)
    b.environment["machine"] = {**b.environment["machine"], "cpu": "Another 1"}
    found = diff(a, b)
    assert not found.regression
    assert found.times_compared == 0
    assert any("Imaginary 9000 against Another 1" in note for note in found.notes)
    assert diff(a, b, across_machines=True).regression


def test_times_of_unknown_machines_are_refused_too():
    a, b = slower(1.3)
    a.environment, b.environment = {}, {}
    found = diff(a, b)
    assert not found.regression
    assert any("not known" in note for note in found.notes)


def test_times_on_other_threads_are_not_compared():
    a, b = base(), base()
    for record in b.records:
        record.threads = 4
        if record.grad_s is not None:
            record.grad_s *= 3
    found = diff(a, b)
    assert "time" not in {c.kind for c in found.changes}
    assert any("thread counts differ" in note for note in found.notes)


def test_a_machine_that_is_slower_as_a_whole_is_suspected():
    a, b = base(), base()
    for record in b.records:
        for name in ("forward", "grad"):
            value, interval = getattr(record, f"{name}_s"), getattr(record, f"{name}_ci")
            if value is not None:
                setattr(record, f"{name}_s", 1.2 * value)
                setattr(record, f"{name}_ci", tuple(1.2 * v for v in interval))
    found = diff(a, b)
    assert found.regression
    assert any("factor 1.20" in note for note in found.notes)


WORSE = [
    ("outcome", {"outcome": Outcome.CRASHED}, True),
    ("outcome", {"outcome": Outcome.TIMEOUT}, True),
    ("outcome", {"outcome": Outcome.SKIPPED}, False),
    ("outcome", {"outcome": Outcome.UNAVAILABLE}, False),
    ("verdict", {"verdict": "wrong"}, True),
    ("verdict", {"verdict": "unproven"}, True),
    ("loss", {"loss": 0.2}, True),
    ("loss", {"loss": math.nan}, True),
    ("error", {"oracle_grad_error": 1e-3}, True),
    ("error", {"oracle_grad_error": math.nan}, True),
    ("error", {"oracle_grad_error": 9e-13}, False),
    ("error", {"fd_error": 1e-5}, False),
    ("memory", {"memory": {"rss_peak": 90_000_000, "xla_temp": 41768}}, True),
    ("memory", {"memory": {"rss_peak": 40_024_576, "xla_temp": 60000}}, True),
    ("memory", {"memory": {"rss_peak": 40_024_576, "xla_temp": 100}}, False),
    ("version", {"versions": {"WEANJ": "9.9"}}, False),
]


@pytest.mark.parametrize(("kind", "fields", "regression"), WORSE)
def test_each_kind_of_change(kind, fields, regression):
    both = {"fd_error": 1e-9} if "fd_error" in fields else {}
    a = changed(**both) if both else base()
    found = diff(a, changed(**fields))
    assert (kind, regression) in kinds(found)
    assert found.regression is regression
    # Seen from the other side it got better.
    if kind not in ("loss", "version") and "nan" not in str(fields):
        assert not any(
            c.regression
            for c in diff(changed(**fields), a).changes
            if c.kind == kind and kind != "memory"
        )


def test_losses_within_the_tolerance_and_small_errors_are_no_change():
    loss = factory.LOSS["lexicographic"]
    b = changed(loss=loss * (1 + 1e-13), oracle_grad_error=6e-15)
    assert diff(base(), b).changes == ()


def test_resident_memory_within_its_noise_is_no_change():
    noisy = {"rss_peak": 40_024_576 + NOISE["rss_peak"], "xla_temp": 41768}
    assert diff(base(), changed(memory=noisy)).changes == ()


def test_losses_of_other_inputs_are_not_compared():
    a = changed(input_sha256={"theta": "a" * 64})
    b = changed(input_sha256={"theta": "b" * 64}, loss=0.5)
    found = diff(a, b)
    assert found.changes == ()
    assert any("1 case are not compared: the inputs differ" in note for note in found.notes)


def test_pairs_that_no_longer_agree():
    a, b = base(), base()
    old = b.pairs[0]
    swapped = {"left": old.right, "right": old.left}
    b.pairs[0] = old.model_copy(update={"verdict": "mismatch", "reason": "gradient", **swapped})
    found = diff(a, b)
    assert kinds(found) == [("pair", True)]
    assert kinds(diff(b, a)) == [("pair", False)]


def test_cases_of_one_run_only_are_told():
    a, b = base(), base()
    gone = b.records.pop(0)
    found = diff(a, b)
    assert kinds(found) == [("case", False)]
    assert found.changes[0].what == str(gone.case)


def test_packages_that_changed_are_told():
    a = base(environment={"packages": {"jax": "0.10.2", "enzyme-ad": None}, "python": "3.11.7"})
    b = base(environment={"packages": {"jax": "0.10.3", "enzyme-ad": "0.0.16"}})
    shown = {c.what: (c.before, c.after) for c in diff(a, b).changes}
    assert shown["jax"] == ("0.10.2", "0.10.3")
    assert shown["enzyme-ad"] == ("not there", "0.0.16")
    assert shown["python"] == ("3.11.7", "not there")


def test_other_examples_and_thresholds_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="different examples"):
        diff(base(), base(example="another"))
    for threshold in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="threshold"):
            diff(base(), base(), threshold)


def test_an_interrupted_run_is_said_to_be():
    assert any("second run was interrupted" in n for n in diff(base(), base(complete=False)).notes)


def test_a_message_cannot_break_the_comment():
    b = changed(outcome=Outcome.CRASHED, message="died | here\n# not a heading")
    text = difference_to_markdown(diff(base(), b))
    assert "died \\| here \\# not a heading" in text
    assert "\n# " not in text
    assert "✗ 1 regression" in text
    assert "**✗ worse**" in text


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_it_within_its_width(width):
    out = io.StringIO()
    print_difference(diff(*slower(1.3)), Console(file=out, width=width))
    assert max(map(len, out.getvalue().splitlines())) <= width
    assert "gradient time" in out.getvalue()


def test_json_says_whether_there_is_a_regression():
    data = json.loads(difference_to_json(diff(*slower(1.3))))
    assert data["regression"] is True
    assert data["changes"][0]["kind"] == "time"


def test_the_interval_of_a_ratio_covers_it():
    """With two medians of 20 samples each, 95 % intervals cover the true ratio as often."""
    rng = np.random.default_rng(5)
    covered, runs = 0, 300
    for _ in range(runs):
        a, b = (median_interval(s * np.exp(0.1 * rng.standard_normal(20))) for s in (1.0, 1.7))
        found = quotient((a.value, a.bounds), (b.value, b.bounds))
        assert found is not None
        covered += found.low <= 1.7 <= found.high
    assert 0.91 <= covered / runs <= 0.995


@pytest.mark.parametrize(
    "sides",
    [
        (None, (1.0, (0.9, 1.1))),
        ((None, None), (1.0, (0.9, 1.1))),
        ((1.0, None), (1.0, (0.9, 1.1))),
        ((0.0, (0.0, 0.0)), (1.0, (0.9, 1.1))),
    ],
)
def test_no_ratio_without_both_intervals(sides):
    assert quotient(*sides) is None


def test_an_interval_that_reaches_zero_bounds_nothing():
    found = quotient((1.0, (0.0, 2.0)), (1.0, (0.9, 1.1)))
    assert found is not None
    assert found.high > 1e300
    assert 0 < found.low < 1
