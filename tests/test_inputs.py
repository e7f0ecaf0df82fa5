"""The shared inputs: the same bits everywhere, or a refusal in one line."""

from __future__ import annotations

import shutil

import h5py
import numpy as np
import pytest

from pyweanj import catalogue
from pyweanj.example import Size
from pyweanj.inputs import (
    InputsError,
    committed_file,
    ensure_inputs,
    inputs,
    load_inputs,
    normals,
    read_arrays,
    save_gradient,
    sha256,
    write_arrays,
)

EXAMPLE = catalogue.load("02-gauss-seidel")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "inputs.h5"
    shutil.copy(committed_file(EXAMPLE), path)
    return path


def test_committed_file_holds_the_published_corner_values():
    theta = ensure_inputs(EXAMPLE)["theta"]
    assert theta.shape == (32, 32)
    assert theta[0, 0] == -0.36335748145177754
    assert theta[0, 1] == 1.9207540740525255
    assert theta[1, 0] == 0.2517372155742292
    assert theta[-1, -1] == -0.25196386505341467


def flip_a_bit(path):
    with h5py.File(path, "r") as f:
        offset = f["theta"].id.get_offset()
    data = bytearray(path.read_bytes())
    data[offset + 100] ^= 1
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:5000])


def not_hdf5(path):
    path.write_text("theta = 1\n")


def drop_dataset(path):
    with h5py.File(path, "r+") as f:
        del f["uobs"]


def rewrite(path, **changes):
    arrays = {**read_arrays(path), **changes}
    write_arrays(path, arrays)


def wrong_shape(path):
    rewrite(path, theta=np.zeros((32, 31)))


def wrong_dtype(path):
    with h5py.File(path, "r+") as f:
        f["theta"].attrs["dtype"] = "float32"


def transpose_under_the_old_hash(path):
    with h5py.File(path, "r+") as f:
        f["theta"][...] = f["theta"][()].T


def nan_laden(path):
    theta = read_arrays(path)["theta"].copy()
    theta[3, 4] = np.nan
    rewrite(path, theta=theta)


def remove(path):
    path.unlink()


def no_hash(path):
    with h5py.File(path, "r+") as f:
        del f["theta"].attrs["sha256"]


DAMAGE = [
    (flip_a_bit, "SHA-256 of theta differs"),
    (truncate, "not a readable HDF5 file"),
    (not_hdf5, "not a readable HDF5 file"),
    (drop_dataset, "no dataset uobs"),
    (wrong_shape, r"theta has shape \(32, 31\)"),
    (wrong_dtype, "stored as float64 but declared as float32"),
    (transpose_under_the_old_hash, "SHA-256 of theta differs"),
    (nan_laden, r"theta holds 1 NaN or Inf, the first at \(3, 4\)"),
    (remove, "no such file"),
    (no_hash, "SHA-256 of theta was never stored"),
]


@pytest.mark.parametrize(("damage", "text"), DAMAGE, ids=[d.__name__ for d, _ in DAMAGE])
def test_a_damaged_file_is_refused_in_one_line(file, damage, text):
    load_inputs(EXAMPLE, file)  # it is good before
    damage(file)
    with pytest.raises(InputsError, match=text) as caught:
        load_inputs(EXAMPLE, file)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1),
        np.array(2.5),
        np.array([True, False, True]),
        np.array([1 + 2j, -3.5j]),
        np.arange(5, dtype=np.int64),
        np.zeros((0, 3)),
    ],
    ids=lambda a: f"{a.dtype}-{a.shape}",
)
def test_arrays_come_back_as_they_were(tmp_path, array):
    path = tmp_path / "x.h5"
    write_arrays(path, {"a": array}, axes={"a": "i,j"}, generator="g", seed=3)
    back = read_arrays(path)["a"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back, array)
    with h5py.File(path) as f:
        assert f["a"].attrs["sha256"] == sha256(array)
        assert f["a"].attrs["axes"] == "i,j"
        assert f["a"].attrs["seed"] == 3


def test_a_failed_write_leaves_nothing_and_keeps_what_was(tmp_path):
    path = tmp_path / "x.h5"
    write_arrays(path, {"a": np.ones(3)})
    with pytest.raises(TypeError):
        write_arrays(path, {"a": np.zeros(3), "b": np.array([object()])})
    assert [p.name for p in tmp_path.iterdir()] == ["x.h5"]
    assert np.array_equal(read_arrays(path)["a"], np.ones(3))


def test_normals_are_the_published_bits():
    # Made by plain integer arithmetic below, so that the vectorised code cannot drift.
    assert normals(1, 0, (3,)).tolist() == [plain_normal(1, 0, i) for i in range(3)]
    assert normals(7, 2, (2, 2)).ravel().tolist() == [plain_normal(7, 2, i) for i in range(4)]


def plain_normal(seed, stream, element):
    mask = (1 << 64) - 1
    gamma = 0x9E3779B97F4A7C15

    def mix(z):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    origin = mix((((seed << 32) + stream) * gamma) & mask)
    total = 0.0
    for k in range(12):
        total += (mix((origin + (12 * element + k + 1) * gamma) & mask) >> 11) * 2.0**-53
    return total - 6.0


def test_normals_look_normal():
    x = normals(1, 0, (200, 200))
    assert abs(x.mean()) < 0.02
    assert abs(x.std() - 1) < 0.02
    assert abs(np.corrcoef(x.ravel(), normals(2, 0, (200, 200)).ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(x.ravel(), normals(1, 1, (200, 200)).ravel())[0, 1]) < 0.02


def test_inputs_depend_on_seed_and_dtype_alone():
    a, b = inputs(EXAMPLE, 8), inputs(EXAMPLE, 8, seed=2)
    assert np.array_equal(a["theta"], inputs(EXAMPLE, 8)["theta"])
    assert not np.array_equal(a["theta"], b["theta"])
    assert np.array_equal(inputs(EXAMPLE, 8, "float32")["uobs"], a["uobs"].astype(np.float32))


def test_loading_another_size(tmp_path):
    path = tmp_path / "eight.h5"
    write_arrays(path, inputs(EXAMPLE, 8))
    assert load_inputs(EXAMPLE, path, Size(8, 1))["theta"].shape == (8, 8)
    with pytest.raises(InputsError, match="at n = 32 needs"):
        load_inputs(EXAMPLE, path)


def test_save_gradient_writes_the_layout_of_the_inputs(tmp_path):
    g = np.arange(6.0).reshape(2, 3)
    path = save_gradient("02-gauss-seidel", "jax-lex", g, tmp_path)
    assert path == tmp_path / "gradients" / "jax-lex.h5"
    assert np.array_equal(read_arrays(path)["gradient"], g)
