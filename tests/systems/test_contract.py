"""What the interface promises, for every Python system and the same cases."""

import json
from typing import cast

import numpy as np
import pytest

from pyweanj.example import Size
from pyweanj.examples.gauss_seidel.example import example
from pyweanj.inputs import InputsError, read_arrays, write_arrays
from pyweanj.systems import Direction, UnsupportedError, load
from tests.examples import reference
from tests.systems.cases import (
    CASES,
    SYSTEMS,
    Case,
    folder,
    gradient,
    implementation,
    problem,
    system,
)

LARGE = [Case(v, example.check) for v in ("lexicographic", "red-black")]
FORWARD_MODE = ("jax", "enzyme-cpp")
NO_FORWARD_MODE = ("adjoint", "oracle")

each_system = pytest.mark.parametrize("name", SYSTEMS)
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def distance(left, right):
    """2-norm of the difference relative to `right`; the plain norm where that is zero."""
    scale = np.linalg.norm(right)
    return float(np.linalg.norm(np.asarray(left) - right) / (scale if scale > 0 else 1.0))


def wide(case):
    return {k: v.astype(np.float64) for k, v in read_arrays(problem(case).inputs).items()}


@each_system
@each_case
def test_loss_and_gradient_are_those_of_dense_linear_algebra(name, case):
    arrays = wide(case)
    loss, expected = reference.loss_and_gradient(
        case.variant, arrays["theta"], arrays["uobs"], case.size.K
    )
    found_loss, found = gradient(implementation(name, case))
    assert found_loss == pytest.approx(loss, rel=case.tolerance, abs=0)
    assert found["theta"].shape == (case.size.n, case.size.n)
    assert distance(found["theta"], expected) <= case.tolerance


def test_the_reference_tells_the_orderings_and_the_axes_apart():
    # Otherwise the test above could pass for a wrong sweep or a transposed array.
    case = Case("lexicographic", Size(5, 3))
    arrays = wide(case)
    _, expected = reference.loss_and_gradient("lexicographic", **arrays, K=3)
    wrong = [
        reference.loss_and_gradient("red-black", **arrays, K=3)[1],
        reference.loss_and_gradient("lexicographic", **arrays, K=2)[1],
        expected.T,
    ]
    for other in wrong:
        assert distance(other, expected) > 1e3 * case.tolerance


@each_system
@pytest.mark.parametrize("variant", ["lexicographic", "red-black"])
def test_published_figures_to_every_digit(name, variant):
    assert example.data is not None
    published = json.loads((example.data / "published.json").read_text())["check"][variant]
    loss, found = gradient(implementation(name, Case(variant, example.check)))
    assert f"{loss:.12f}" == f"{published['loss']:.12f}"
    assert f"{np.linalg.norm(found['theta']):.6e}" == f"{published['grad_norm']:.6e}"


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_all_pairs_agree_at_the_check_size(case):
    results = [gradient(implementation(name, case)) for name in SYSTEMS]
    for loss, found in results:
        for other_loss, other in results:
            assert loss == pytest.approx(other_loss, rel=case.tolerance, abs=0)
            assert distance(found["theta"], other["theta"].astype(float)) <= case.tolerance


@each_system
@pytest.mark.parametrize("dtype", example.dtypes)
def test_the_gradient_is_written_in_the_dtype_that_was_computed_in(name, dtype):
    import h5py

    _, found = gradient(implementation(name, Case("red-black", Size(5, 3), dtype)))
    computed = "float64" if name == "oracle" else dtype
    assert str(found["theta"].dtype) == computed
    with h5py.File(folder() / "gradient.h5") as file:
        assert file.attrs["loss_dtype"] == computed


@each_system
@each_case
def test_the_inputs_are_held_as_they_were_stored(name, case):
    import h5py

    made = implementation(name, case)
    gradient(made)
    with h5py.File(problem(case).inputs) as file:
        stored = {key: str(cast("h5py.Dataset", file[key]).attrs["sha256"]) for key in file}
    assert made.input_sha256() == stored


@each_system
@pytest.mark.parametrize("index", [(0, 0), (4, 1)])
def test_losses_move_one_entry(name, index):
    case = Case("lexicographic", Size(5, 3))
    arrays = wide(case)
    steps = [0.0, 0.5, -2.0]
    found = implementation(name, case).losses(Direction(entry=("theta", index)), steps)
    for step, loss in zip(steps, found, strict=True):
        moved = arrays["theta"].copy()
        moved[index] += step
        expected, _ = reference.loss_and_gradient("lexicographic", moved, arrays["uobs"], 3)
        assert loss == pytest.approx(expected, rel=case.tolerance, abs=0)
    assert len(set(found)) == len(found)


@each_system
def test_losses_move_along_the_arrays_of_a_file(name, tmp_path):
    case = Case("red-black", Size(5, 3))
    arrays = wide(case)
    v = np.random.default_rng(3).standard_normal((5, 5))
    write_arrays(tmp_path / "v.h5", {"theta": v})
    direction = Direction(file=tmp_path / "v.h5")
    steps = [1e-3, -1.0]
    for step, loss in zip(steps, implementation(name, case).losses(direction, steps), strict=True):
        moved = arrays["theta"] + step * v
        expected, _ = reference.loss_and_gradient("red-black", moved, arrays["uobs"], 3)
        assert loss == pytest.approx(expected, rel=case.tolerance, abs=0)


@pytest.mark.parametrize("name", FORWARD_MODE)
@each_case
def test_forward_mode_is_the_gradient_times_the_direction(name, case, tmp_path):
    made = implementation(name, case)
    _, found = gradient(made)
    v = np.random.default_rng(4).standard_normal((case.size.n, case.size.n)).astype(case.dtype)
    write_arrays(tmp_path / "v.h5", {"theta": v})
    g = found["theta"].astype(float)
    scale = np.linalg.norm(g) * np.linalg.norm(v)
    along = made.jvp(Direction(file=tmp_path / "v.h5"))
    assert abs(along - np.sum(g * v)) <= case.tolerance * scale
    entry = made.jvp(Direction(entry=("theta", (case.size.n - 1, 0))))
    assert abs(entry - g[-1, 0]) <= case.tolerance * np.linalg.norm(g)


@pytest.mark.parametrize("name", NO_FORWARD_MODE)
def test_a_system_without_forward_mode_says_so(name):
    made = implementation(name, Case("lexicographic", Size(5, 3)))
    with pytest.raises(UnsupportedError, match="no forward mode"):
        made.jvp(Direction(entry=("theta", (0, 0))))


@each_system
@pytest.mark.parametrize(
    ("arrays", "message"),
    [({"other": np.zeros(25)}, "no dataset theta"), ({"theta": np.zeros(25)}, r"shape \(25,\)")],
)
def test_a_direction_of_another_shape_is_refused(name, arrays, message, tmp_path):
    write_arrays(tmp_path / "v.h5", arrays)
    made = implementation(name, Case("lexicographic", Size(5, 3)))
    with pytest.raises(InputsError, match=message):
        made.losses(Direction(file=tmp_path / "v.h5"), [1.0])


@each_system
def test_a_direction_is_an_entry_or_a_file_but_not_both(name):
    made = implementation(name, Case("lexicographic", Size(5, 3)))
    for direction in (Direction(), Direction(("theta", (0, 0)), folder() / "v.h5")):
        with pytest.raises(ValueError, match="either an entry or a file"):
            made.losses(direction, [1.0])


@each_system
@pytest.mark.parametrize(("what", "method"), [("forward", "loss"), ("gradient", "gradient")])
def test_each_sample_makes_the_calls_that_were_asked_for(name, what, method, monkeypatch):
    made = implementation(name, Case("lexicographic", Size(5, 3)))
    real = getattr(made, method)
    calls = []
    monkeypatch.setattr(made, method, lambda held: calls.append(real(held)))
    assert made.sample(what, 7) > 0
    assert len(calls) == 7


@each_system
def test_what_the_system_says_of_itself(name):
    made = system(name)
    assert type(made).probe("cpu").available
    assert all(version[0].isdigit() for version in made.versions().values())
    assert made.versions().keys() >= {"numpy"}
    assert load(name).name == name
    environ = type(made).environ("cpu", 3)
    assert environ["OMP_NUM_THREADS"] == "3"


@each_system
def test_a_missing_dataset_is_named(name, tmp_path):
    from dataclasses import replace

    write_arrays(tmp_path / "inputs.h5", {"theta": np.zeros((5, 5))})
    case = Case("lexicographic", Size(5, 3))
    with pytest.raises(InputsError, match="no dataset uobs"):
        system(name).prepare(replace(problem(case), inputs=tmp_path / "inputs.h5"))
