import math

import numpy as np
import pytest

from pyweanj.verify import Evidence, Probe, derive, directions, fd, proofs
from pyweanj.verify.proofs import Proof, kind_of
from pyweanj.verify.proofs.slope import central_slope

TOLERANCE = derive("float64", 50, terms=20)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 4))
C = RNG.uniform(0.5, 2, (5, 4))


def quadratic(x):
    return float(np.sum(C * x**2))


def smooth(x):
    return float(np.sum(C * np.sin(x) * np.exp(0.3 * x)))


def linear(x):
    return float(np.sum(C * x))


QUADRATIC = {"x": 2 * C * X}
SMOOTH = {"x": C * np.exp(0.3 * X) * (np.cos(X) + 0.3 * np.sin(X))}
LINEAR = {"x": C.copy()}


def moved(x, direction, step):
    if isinstance(direction, tuple):
        x = x.copy()
        x[direction[1]] += step
        return x
    return x + step * direction["x"]


def probe(loss, direction, steps, x=X):
    return Probe(direction, tuple(steps), tuple(loss(moved(x, direction, t)) for t in steps))


def fd_figure(loss, gradient, is_quadratic, along=None, tolerance=TOLERANCE, **more):
    steps = fd.steps(1e-2, tolerance.dtype, is_quadratic)
    where = along or fd.random_entries({"x": X.shape}, 10)
    found = [probe(loss, w, steps) for w in where]
    return proofs.finite_differences(
        found, gradient, tolerance, quadratic=is_quadratic, loss=loss(X), magnitude=3.0, **more
    )


CASES = [(quadratic, QUADRATIC, True), (smooth, SMOOTH, False), (linear, LINEAR, False)]
IDS = ["quadratic", "smooth", "linear"]


@pytest.mark.parametrize(("loss", "gradient", "is_quadratic"), CASES, ids=IDS)
def test_finite_differences_pass_the_right_gradient(loss, gradient, is_quadratic):
    along = [directions.aligned(gradient, 1), directions.random_signs(gradient, 2)]
    for where in (None, along):
        found = fd_figure(loss, gradient, is_quadratic, where)
        assert found.passed is True
        assert found.value <= found.tolerance < 1e-7


@pytest.mark.parametrize(("loss", "gradient", "is_quadratic"), CASES, ids=IDS)
@pytest.mark.parametrize("wrong", [lambda g: -g, lambda g: 1.0001 * g, np.flipud, lambda g: 0 * g])
def test_finite_differences_fail_wrong_ones(loss, gradient, is_quadratic, wrong):
    bad = {"x": wrong(gradient["x"])}
    along = [directions.aligned(bad, 1), directions.random_signs(bad, 2)]
    for where in (None, along):
        found = fd_figure(loss, bad, is_quadratic, where)
        assert found.passed is False
        assert not found.value <= (found.tolerance or 0)


def test_allowance_is_the_rounding_of_the_loss():
    """Adding a constant to the loss drowns the gradient, and the figure knows by how much."""
    for constant, expected in ((0.0, True), (1e6, True), (1e15, None)):
        found = fd_figure(lambda x, c=constant: c + quadratic(x), QUADRATIC, True)
        assert found.passed is expected
    assert "decides nothing" in found.detail
    wrong = {"x": -QUADRATIC["x"]}
    assert fd_figure(lambda x: 1e6 + quadratic(x), wrong, True).passed is False


def test_float32_entries_may_decide_nothing_where_a_direction_does():
    tolerance = derive("float32", 50, terms=X.size)
    x = X.astype(np.float32)

    def loss(x):
        return float(np.float32(3e3) + np.sum((C.astype(np.float32) * x) * x))

    gradient = {"x": (2 * C * X).astype(np.float32)}
    steps = (-1e-2, 1e-2)
    options = {"quadratic": True, "magnitude": 3.0}
    entries = [probe(loss, e, steps, x) for e in fd.random_entries({"x": X.shape}, 5)]
    assert proofs.finite_differences(entries, gradient, tolerance, **options).passed is None
    steps = fd.steps(1e-2, "float32", True)
    along = [probe(loss, directions.aligned(gradient), steps, x)]
    found = proofs.finite_differences(along, gradient, tolerance, **options)
    assert found.passed is True
    bad = {"x": 1.2 * gradient["x"]}
    assert proofs.finite_differences(along, bad, tolerance, **options).passed is False


def test_no_probe_decides_nothing():
    assert proofs.finite_differences([], QUADRATIC, TOLERANCE, quadratic=True).passed is None


def test_slope_bounds_hold_and_kinks_are_seen():
    steps = fd.steps(1e-2, "float64", False)
    for entry in fd.random_entries({"x": X.shape}, 20):
        found = central_slope(
            probe(smooth, entry, steps), TOLERANCE, quadratic=False, loss=smooth(X)
        )
        assert abs(found.value - SMOOTH["x"][entry[1]]) <= found.uncertainty < 1e-6
        assert found.kink == 0
    one = Probe(("x", ()), steps, tuple(2 * max(t, 0.0) + t**2 for t in steps))
    found = central_slope(one, TOLERANCE, quadratic=False, loss=0.0)
    assert found.value == pytest.approx(1)
    assert found.kink == pytest.approx(2)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_any_subgradient_is_allowed_at_a_kink_but_proves_nothing(slope):
    steps = fd.steps(1e-2, "float64", False)
    one = Probe(("x", (0,)), steps, tuple(max(t, 0.0) + 1.0 for t in steps))
    options = {"quadratic": False, "loss": 1.0}
    found = proofs.finite_differences([one], {"x": np.array([slope])}, TOLERANCE, **options)
    assert found.passed is None
    assert "kink" in found.detail or slope == 0
    outside = proofs.finite_differences([one], {"x": np.array([1.2])}, TOLERANCE, **options)
    assert outside.passed is False


def test_probe_without_opposite_is_refused():
    with pytest.raises(ValueError, match="opposite"):
        central_slope(Probe(("x", (0,)), (1.0,), (2.0,)), TOLERANCE, quadratic=True)
    with pytest.raises(ValueError, match="2 steps but 1"):
        Probe(("x", (0,)), (1.0, 2.0), (2.0,))


def taylor(loss, gradient, is_quadratic, steps=None):
    steps = steps or [t * 2.0**-k for k in range(5) for t in (1e-1, -1e-1)]
    one = probe(loss, directions.aligned(gradient, 3), steps)
    return proofs.taylor(one, loss(X), gradient, TOLERANCE, quadratic=is_quadratic)


def test_taylor_rate_is_two_for_a_right_gradient():
    assert taylor(quadratic, QUADRATIC, True).value == pytest.approx(2, abs=1e-6)
    found = taylor(smooth, SMOOTH, False)
    assert found.passed is True
    assert found.value == pytest.approx(2, abs=0.1)


def test_taylor_rate_is_one_for_a_wrong_gradient():
    for loss, gradient, is_quadratic in CASES:
        found = taylor(loss, {"x": 1.5 * gradient["x"]}, is_quadratic)
        assert found.passed is False
        assert found.value == pytest.approx(1, abs=0.2)


def test_taylor_of_a_linear_loss_is_degenerate_and_says_so():
    found = taylor(linear, LINEAR, False)
    assert found.value is None
    assert found.passed is True
    assert "degenerate" in found.detail
    far = proofs.taylor(
        Probe(directions.aligned(LINEAR), (1e-12,), (1e6,)), 1e6, LINEAR, TOLERANCE, quadratic=False
    )
    assert far.passed is None


def test_taylor_through_a_kink_decides_nothing():
    direction = {"x": np.ones(1)}
    steps = [t * 2.0**-k for k in range(5) for t in (1e-1, -1e-1)]
    one = Probe(direction, tuple(steps), tuple(max(t, 0) + t**2 for t in steps))
    found = proofs.taylor(one, 0.0, {"x": np.array([0.5])}, TOLERANCE, quadratic=False)
    assert found.passed is None
    assert "kink" in found.detail


def test_taylor_remainder_that_changes_sign_is_no_alarm():
    steps = (0.01, 0.005, 0.0025, 0.00125)
    # t² and t³ cancel between the smallest steps.
    values = tuple(1 + t + t**2 - t**3 / 0.0022 for t in steps)
    one = Probe({"x": np.ones(1)}, steps, values)
    found = proofs.taylor(one, 1.0, {"x": np.ones(1)}, TOLERANCE, quadratic=False)
    assert found.value < 1.5
    assert found.passed is None


def test_adjoint_identity():
    v = directions.random_signs(SMOOTH, 4)
    right = float(np.sum(SMOOTH["x"] * v["x"]))
    assert proofs.adjoint_identity([(v, right)], SMOOTH, TOLERANCE).passed is True
    for wrong in (right * (1 + 1e-9) + 1e-9, -right, math.nan):
        assert proofs.adjoint_identity([(v, wrong)], SMOOTH, TOLERANCE).passed is False
    found = proofs.adjoint_identity([(v, right), (v, 2 * right)], SMOOTH, TOLERANCE, across="jax")
    assert found.passed is False
    assert kind_of(found.name) is Proof.ACROSS
    zero = {"x": 0 * X}
    assert proofs.adjoint_identity([(v, 0.0)], zero, TOLERANCE).passed is None
    assert proofs.adjoint_identity([(v, 1.0)], zero, TOLERANCE).passed is False
    assert proofs.adjoint_identity([], SMOOTH, TOLERANCE).passed is None


def test_adjoint_identity_accepts_either_complex_convention():
    g = RNG.standard_normal(4) + 1j * RNG.standard_normal(4)
    v = RNG.standard_normal(4) + 1j * RNG.standard_normal(4)
    for gradient in (g, g.conj()):
        jvp = float(np.real(np.sum(np.conj(g) * v)))
        assert proofs.adjoint_identity([({"z": v}, jvp)], {"z": gradient}, TOLERANCE).passed
    assert not proofs.adjoint_identity([({"z": v}, jvp)], {"z": 1j * g}, TOLERANCE).passed


def test_repeatability():
    g = SMOOTH["x"]
    calls = [{"x": g}, {"x": g}, {"x": g}]
    found = proofs.repeatability(calls, [1.0] * 3, TOLERANCE)
    assert found.passed
    assert found.value == 0
    assert "last bit" in found.detail
    noisy = [{"x": g}, {"x": g * (1 + 2**-52)}]
    found = proofs.repeatability(noisy, [1.0] * 2, TOLERANCE)
    assert found.passed
    assert 0 < found.value < 1e-15
    for bad in (g * (1 + 1e-9), g * np.nan, g[:2], 0 * g):
        found = proofs.repeatability([{"x": g}, {"x": g}, {"x": bad}], [1.0] * 3, TOLERANCE)
        assert found.passed is False
        assert "number 3" in found.detail
    assert proofs.repeatability(calls, [1.0, 1.0, 2.0], TOLERANCE).passed is False
    assert proofs.repeatability(calls[:1], [1.0], TOLERANCE).passed is None


@pytest.mark.parametrize(("fault", "confidence", "calls"), [(1 / 20, 0.99, 90), (0.5, 0.99, 7)])
def test_calls_needed(fault, confidence, calls):
    assert proofs.calls_needed(fault, confidence) == calls
    assert 1 - (1 - fault) ** calls >= confidence > 1 - (1 - fault) ** (calls - 1)


def evidence(gradient=SMOOTH, **more):
    options = {"dtype": "float64", "n": 5, "K": 1, "input_sha256": {"x": "aa"}} | more
    return Evidence(1.0, gradient, **options)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (evidence(), ""),
        (evidence({"x": X.T}), "should be (5, 4)"),
        (evidence({"y": X}), "no gradient of x"),
        (evidence({"x": X, "y": X}), "not asked for"),
        (evidence({"x": X.astype(np.float32)}), "float32, should be float64"),
        (evidence(dtype="float32"), "dtype float32 instead of float64"),
        (evidence(K=2), "K = 2 instead of"),
        (evidence(input_sha256={"x": "bb"}), "other x"),
        (evidence(input_sha256=None), "does not say"),
    ],
)
def test_like_for_like(given, text):
    found = proofs.like_for_like(
        given, shapes={"x": (5, 4)}, dtype="float64", n=5, K=1, input_sha256={"x": "aa"}
    )
    assert found.passed is (text == "")
    assert text in found.detail


def test_finite_and_unchanged():
    assert proofs.finite(evidence()).passed
    assert not proofs.finite(evidence({"x": X / 0 if False else X * np.inf})).passed
    assert proofs.inputs_unchanged({"x": "a"}, {"x": "a"}).passed
    assert not proofs.inputs_unchanged({"x": "a"}, {"x": "b"}).passed
    assert not proofs.inputs_unchanged({"x": "a"}, {}).passed


def test_zero():
    zero = {"x": 0 * X}
    constant = [probe(lambda _: 1.0, directions.aligned(zero), (-1, 1))]
    entry = [probe(lambda _: 1.0, ("x", (0, 0)), (-1, 1))]
    moving = [probe(linear, directions.aligned(zero), (-1, 1))]
    assert proofs.zero(SMOOTH).passed is True
    assert proofs.zero(zero).passed is None
    assert proofs.zero(zero, probes=entry).passed is None
    assert proofs.zero(zero, probes=moving).passed is None
    assert proofs.zero(zero, probes=constant).passed is True
    assert proofs.zero(zero, oracle=zero).passed is True
    assert proofs.zero(zero, oracle=SMOOTH, probes=constant).passed is False
    part = {"a": X, "b": 0 * X}
    assert proofs.zero(part, oracle={"a": X, "b": X}).passed is False
    assert proofs.zero(part).value is None


def test_comparisons_as_figures():
    assert proofs.oracle(evidence(), evidence(), TOLERANCE).passed
    wrong = evidence({"x": -SMOOTH["x"]}, label="jax")
    for found in (
        proofs.oracle(wrong, evidence(), TOLERANCE),
        proofs.agreement(evidence(), wrong, TOLERANCE),
        proofs.devices(evidence(), wrong, TOLERANCE),
    ):
        assert found.passed is False
        assert found.value == pytest.approx(2)
        assert found.detail.startswith("gradient: ")
        assert found.where.startswith("x[")
    zero = evidence({"x": 0 * X})
    assert proofs.oracle(zero, zero, TOLERANCE).passed
    assert not proofs.devices(zero, zero, TOLERANCE).passed


def separating(loss, mine, other, tangent=None):
    direction = directions.separating(mine, other)
    steps = fd.steps(1e-2, "float64", True)
    return proofs.separating_direction(
        probe(loss, direction, steps),
        evidence(mine),
        evidence(other, label="other"),
        TOLERANCE,
        quadratic=True,
        tangent=tangent,
    )


@pytest.mark.parametrize("entry", [(0, 0), (3, 2)])
def test_separating_direction_names_the_side_for_a_single_entry(entry):
    wrong = {"x": QUADRATIC["x"].copy()}
    wrong["x"][entry] *= 1.3
    assert separating(quadratic, QUADRATIC, wrong).passed is True
    found = separating(quadratic, wrong, QUADRATIC)
    assert found.passed is False
    assert found.value == pytest.approx(1, abs=1e-6)


def test_separating_direction_by_forward_mode_where_losses_cannot_tell():
    noise = RNG.standard_normal(X.shape)
    wrong = {"x": QUADRATIC["x"] * (1 + 1e-12 * noise)}
    direction = directions.separating(QUADRATIC, wrong)
    tangent = float(np.sum(QUADRATIC["x"] * direction["x"]))
    assert separating(quadratic, QUADRATIC, wrong).passed is None
    # Forward mode that agrees with neither says nothing.
    assert separating(quadratic, QUADRATIC, wrong, 5 * tangent).passed is None


def test_directions():
    g = {"x": X.copy(), "y": np.zeros(6)}
    along = directions.aligned(g, 1)
    assert np.all(along["x"] * X > 0)
    assert np.all(np.abs(along["y"]) >= 0.5)
    assert not np.array_equal(along["x"], directions.aligned(g, 2)["x"])
    signs = directions.random_signs(g)
    assert set(np.unique(signs["x"])) == {-1.0, 1.0}
    assert directions.random_signs({"z": X + 0j})["z"].dtype == complex
    apart = directions.separating({"x": X}, {"x": X + 3})
    assert np.max(np.abs(apart["x"])) == 1
    for other in (X, X * np.nan, X[:2]):
        with pytest.raises(ValueError, match=r".+"):
            directions.separating({"x": X}, {"x": other})
