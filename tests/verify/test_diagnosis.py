import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyweanj.verify.diagnosis import Context, diagnose, forward_mode_fits
from pyweanj.verify.diagnosis.causes import CAUSES, cause_of
from pyweanj.verify.diagnosis.places import place_of
from pyweanj.verify.tolerance import derive

RNG = np.random.default_rng(0)
G = RNG.standard_normal((8, 5))
CONTEXT = Context(n=8, K=4, depth=50)


def colours(shape):
    return np.sum(np.indices(shape), axis=0) % 2


def first(wrong, right=G, context=CONTEXT):
    found = diagnose({"g": wrong}, {"g": right}, context)
    return found[0]


def test_nothing_to_say_where_nothing_differs():
    assert diagnose({"g": G}, {"g": G}, CONTEXT) == []
    assert diagnose({"g": G * (1 + 2**-52)}, {"g": G}, CONTEXT) == []


@settings(max_examples=40)
@given(
    factor=st.sampled_from([2.0, 0.5, -1.0, -2.0, 3.0, 8.0, 1 / 81, 81.0, 40.0, 1 / 7, 1.234]),
    flip=st.sampled_from([None, 0, 1]),
    seed=st.integers(0, 9),
)
def test_factor_alone_and_after_a_reversal(factor, flip, seed):
    right = np.random.default_rng(seed).standard_normal((8, 5))
    wrong = factor * (right if flip is None else np.flip(right, flip))
    found = first(wrong, right)
    assert found.kind == ("factor" if flip is None else "axes")
    assert found.residual < 1e-13
    named = {2.0: "accumulated 2 times", -1.0: "sign reversed", 1 / 81: "h²", 81.0: "1/h²"}
    named |= {8.0: "n", 40.0: "the number of entries", 1 / 7: "1/7", 1.234: "1.234"}
    assert named.get(factor, "factor") in found.text


@pytest.mark.parametrize("shape", [(6,), (4, 3), (5, 5), (3, 4, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_every_signed_permutation_of_axes_is_named(shape, seed):
    rng = np.random.default_rng(seed)
    right = rng.standard_normal(shape)
    order = tuple(int(k) for k in rng.permutation(len(shape)))
    wrong = np.flip(right.transpose(order), int(rng.integers(len(shape))))
    found = first(wrong, right)
    assert found.kind == "axes"
    assert found.residual == 0


def test_kind_of_a_symmetric_array_is_not_invented():
    right = np.ones((4, 4))
    assert first(right * 2, right).kind == "factor"
    assert diagnose({"g": right.T}, {"g": right}, CONTEXT) == []


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("by", [-2, -1, 1, 2])
@pytest.mark.parametrize("wrapped", [True, False])
def test_shift(axis, by, wrapped):
    wrong = np.roll(G, by, axis)
    if not wrapped:
        edge = slice(0, by) if by > 0 else slice(by, None)
        wrong[(slice(None),) * axis + (edge,)] = 0
    found = first(wrong)
    assert found.kind == "shift"
    assert f"{by:+d} along axis {axis}" in found.text
    assert ("wrapped" in found.text) == wrapped


def test_constant_array_is_shifted_nowhere():
    right = np.ones((6, 6))
    wrong = right.copy()
    wrong[0] = 0
    assert first(wrong, right).kind == "part"


@pytest.mark.parametrize("value", [0.0, 2.0, None])
@pytest.mark.parametrize(
    ("mask", "name"),
    [
        (colours((8, 5)) == 1, "colour 1"),
        (np.pad(np.zeros((6, 3), bool), 1, constant_values=True), "the boundary"),
        (np.pad(np.ones((6, 3), bool), 1), "the interior"),
        (np.indices((8, 5))[1] == 4, "the last column"),
        (np.indices((8, 5))[0] % 2 == 0, "every second row, from 0"),
        ((np.indices((8, 5))[0] > 4) & (np.indices((8, 5))[1] < 2), "block [5:8, 0:2]"),
    ],
)
def test_part(mask, name, value):
    wrong = G.copy()
    wrong[mask] = RNG.standard_normal(mask.sum()) if value is None else value * G[mask]
    found = first(wrong, context=Context(n=8, K=4, depth=50, colours=colours))
    assert found.kind == "part"
    assert found.text.startswith(name)
    assert found.vague == (value is None)
    said = {0.0: "zero", 2.0: "factor 2", None: "wrong values"}
    assert said[value] in found.text


def test_places_have_names_and_the_whole_has_none():
    assert place_of(np.ones((3, 3), bool)) == "every entry"
    assert place_of(np.eye(7, dtype=bool)) == ""


def test_scattered_and_none():
    wrong = G.copy()
    wrong[RNG.permutation(8)[:5], RNG.permutation(5)] += 1
    assert first(wrong).kind == "scattered"
    noise = first(G + 1e-3 * RNG.standard_normal(G.shape))
    assert noise.kind == "none"
    assert noise.residual > 1e-4


def test_forward_mode_that_is_right_blames_reverse_mode():
    wrong = G + 1e-3 * RNG.standard_normal(G.shape)
    found = first(wrong, context=Context(n=8, K=4, depth=50, forward_mode_right=True))
    assert found.kind == "reverse mode"
    v = {"g": RNG.standard_normal(G.shape)}
    tolerance = derive("float64", 50)
    fits = [(v, float(np.sum(v["g"] * G)))]
    assert forward_mode_fits(fits, {"g": G}, tolerance) is True
    assert forward_mode_fits(fits, {"g": wrong}, tolerance) is False
    assert forward_mode_fits([], {"g": G}, tolerance) is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_says_where_and_what_the_rest_is(value):
    wrong = G.copy()
    wrong[0] = value
    found = first(wrong)
    assert found.kind == "not finite"
    assert "the first row" in found.text
    assert found.residual == 0
    assert "wrong too" in first(-wrong).text


def test_precision():
    narrow = G.astype(np.float32).astype(np.float64)
    found = first(narrow)
    assert found.kind == "precision"
    assert "every entry is a float32 number" in found.text
    noisy = G * (1 + 2.0**-22 * RNG.uniform(-1, 1, G.shape))
    assert first(noisy).kind == "precision"
    # A difference of that size with one sign is not noise.
    assert first(G * (1 + 2.0**-22)).kind == "factor"
    single = Context(n=8, K=4, dtype="float32", depth=50)
    tf32 = (G * (1 + 2.0**-11 * RNG.uniform(-1, 1, G.shape))).astype(np.float32)
    assert "TF32" in first(tf32, G.astype(np.float32), single).text


def test_gradients_of_something_else():
    other = RNG.standard_normal(G.shape)
    calls = []

    def lazy():
        calls.append(1)
        return {"g": other}

    for options, kind, text in (
        ({"orders": {"red-black": lazy}}, "order", "red-black"),
        ({"sweeps": {5: lazy}}, "sweeps", "K = 5 instead of 4"),
        ({"arguments": {"uobs": {"uobs": other}}}, "argument", "uobs"),
        ({"inputs": {"theta": other}}, "input", "theta itself"),
    ):
        found = first(other.copy(), context=Context(n=8, K=4, depth=50, **options))
        assert (found.kind, found.residual) == (kind, 0)
        assert text in found.text
    assert len(calls) == 2
    added = first(G + other, context=Context(n=8, K=4, depth=50, inputs={"theta": other}))
    assert "added to the input theta" in added.text


def test_exchanged_arrays():
    a, b = G, RNG.standard_normal(G.shape)
    found = diagnose({"a": b, "b": a}, {"a": a, "b": b}, CONTEXT)
    assert [f.text for f in found[:2]] == [
        "a: the gradient with respect to b",
        "b: the gradient with respect to a",
    ]


def test_only_the_wrong_array_is_diagnosed():
    found = diagnose({"a": G, "b": -G}, {"a": G, "b": G}, CONTEXT)
    assert {f.array for f in found} == {"b"}


def test_missing_and_surplus_arrays():
    found = diagnose({"a": G}, {"b": G}, CONTEXT)
    assert {f.text.partition(" of ")[0] for f in found} == {
        "a gradient that was not asked for",
        "no gradient",
    }


def test_conventions_are_marked():
    z = G + 1j * RNG.standard_normal(G.shape)
    found = first(z.conj(), z)
    assert (found.kind, found.convention) == ("conjugate", True)
    assert not first(-z, z).convention
    x = RNG.standard_normal(G.shape)
    x[2, 3] = x[4, 1] = 0
    right, context = G.copy(), Context(n=8, K=4, depth=50, inputs={"g": x})
    for slope in (0.0, 2.0):
        wrong = right.copy()
        wrong[x == 0] *= slope
        found = first(wrong, right, context)
        assert (found.kind, found.convention) == ("kink", True)
    # The same change where x is not zero, or by no usual factor, is a fault.
    wrong = right.copy()
    wrong[2, 3] *= 1.3
    assert first(wrong, right, context).kind == "part"
    wrong = right.copy()
    wrong[0, 0] = 0
    assert not first(wrong, right, context).convention


def test_calls_that_differ():
    steady, off = {"g": G}, {"g": G + 1}
    context = Context(n=8, K=4, depth=50, repeats=[steady, steady, off])
    found = first(G, context=context)
    assert found.kind == "not repeatable"
    assert "1 of 3 calls" in found.text
    grows = Context(n=8, K=4, depth=50, repeats=[{"g": (k + 1) * G} for k in range(3)])
    assert "grows" in first(G, context=grows).text


def test_without_a_reference_only_what_shows_by_itself():
    nan = G.copy()
    nan[1, 1] = np.nan
    half = G.copy()
    half[:, -1] = 0
    narrow = G.astype(np.float32).astype(np.float64)
    kinds = {
        "not finite": nan,
        "zero": 0 * G,
        "part": half,
        "precision": narrow,
    }
    for kind, wrong in kinds.items():
        assert diagnose({"g": wrong}, None, CONTEXT)[0].kind == kind
    assert diagnose({"g": 2 * G}, None, CONTEXT) == []


@pytest.mark.parametrize(
    ("shape", "text"),
    [((40,), "flattened"), ((8, 5, 1), "length 1"), ((10, 7), "halo"), ((3, 3), "instead of")],
)
def test_shapes(shape, text):
    wrong = np.pad(G, 1) if shape == (10, 7) else np.resize(G, shape)
    found = first(wrong)
    assert found.kind == "shape"
    assert text in found.text


def test_tiny_and_huge_gradients_are_diagnosed_alike():
    for scale in (1e-250, 1e-12, 1e12, 1e250):
        assert first(2 * scale * G, scale * G).kind == "factor"
        assert first(scale * G[::-1], scale * G).kind == "axes"


def test_every_kind_has_a_general_cause():
    assert all(causes["any"] for causes in CAUSES.values())
    assert "Const" in cause_of("zero", "enzyme")
    assert "x64" in cause_of("precision", "jax")
    assert "output" in cause_of("zero", "enzyme-cpp")
    assert cause_of("zero", "oracle") == CAUSES["zero"]["any"]


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2,), (0,), (2, 1)])
def test_small_arrays_do_no_harm(shape):
    right = np.full(shape, 2.0)
    found = diagnose({"g": -right}, {"g": right}, CONTEXT)
    assert (found == []) == (right.size == 0)
    assert all(f.kind in CAUSES for f in found)
