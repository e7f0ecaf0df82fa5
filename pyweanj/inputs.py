"""The shared HDF5 inputs: make, check, load.

Every dataset is stored in C order of its logical shape, with the attributes ``axes``,
``dtype``, ``sha256`` (of the logical C-order little-endian bytes), ``generator`` and
``seed``.  Booleans are stored as uint8 with ``dtype="bool"``.  Files appear under their
name only when they are complete.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyweanj.disk import writing
from pyweanj.errors import UsageError
from pyweanj.example import Example, Size

if TYPE_CHECKING:
    import h5py

__all__ = [
    "InputsError",
    "committed_file",
    "describe_file",
    "ensure_inputs",
    "inputs",
    "load_inputs",
    "make_file",
    "normals",
    "read_arrays",
    "read_attributes",
    "save_gradient",
    "sha256",
    "stored_shapes",
    "write_arrays",
]


class InputsError(UsageError):
    """An inputs file that must not be used; the text is one line that says why."""


def sha256(array: np.ndarray) -> str:
    """SHA-256 of the logical C-order little-endian bytes of `array`, as 64 hex digits."""
    little = array.dtype.newbyteorder("<")
    return hashlib.sha256(np.ascontiguousarray(array, dtype=little).tobytes()).hexdigest()


def normals(seed: int, stream: int, shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal numbers to good approximation, the same to the last bit in any language.

    Each is the sum of twelve uniforms less 6 (Irwin–Hall), the uniforms being the upper 53
    bits of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) started at ``seed · 2³² + stream``.
    Sums are taken left to right, so no library function can round differently.  WEANJ.jl has
    the same generator.

    Parameters
    ----------
    seed, stream
        Below 2³² each; streams of one seed are independent for the purpose.
    shape
        Shape of the float64 result, filled in C order.
    """
    count = int(np.prod(shape, dtype=np.int64))
    start = np.uint64((seed << 32) + stream)
    gamma = np.uint64(0x9E3779B97F4A7C15)
    total = np.zeros(count)
    element = np.arange(count, dtype=np.uint64) * np.uint64(12)
    with np.errstate(over="ignore"):
        # The start is hashed once so that neighbouring seeds give unrelated sequences.
        origin = _mix(np.atleast_1d(start * gamma))[0]
        for k in range(12):
            z = _mix(origin + (element + np.uint64(k + 1)) * gamma)
            total += (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (total - 6.0).reshape(shape)


def _mix(z: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser on uint64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def write_arrays(
    path: Path,
    arrays: Mapping[str, np.ndarray],
    *,
    axes: Mapping[str, str] | None = None,
    generator: str = "",
    seed: int | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Write `arrays` to `path` in the shared layout, atomically; OSError names `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    needed = sum(np.asarray(array).nbytes for array in arrays.values())
    with writing(path, needed):
        _write(path, arrays, axes or {}, generator, seed, attributes or {})


def _write(
    path: Path,
    arrays: Mapping[str, np.ndarray],
    axes: Mapping[str, str],
    generator: str,
    seed: int | None,
    attributes: Mapping[str, Any],
) -> None:
    import h5py

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        with h5py.File(temporary, "w", libver=("earliest", "v110")) as file:
            for key, value in attributes.items():
                file.attrs[key] = value
            for name, value in arrays.items():
                array = np.asarray(value)
                stored = array.astype(np.uint8) if array.dtype == np.bool_ else array
                dataset = file.create_dataset(name, data=np.asarray(stored, order="C"))
                dataset.attrs["axes"] = axes.get(name) or ",".join("ijklmn"[: array.ndim])
                dataset.attrs["dtype"] = str(array.dtype)
                dataset.attrs["sha256"] = sha256(array)
                if generator:
                    dataset.attrs["generator"] = generator
                if seed is not None:
                    dataset.attrs["seed"] = seed
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_arrays(path: Path, *, plain: bool = False) -> dict[str, np.ndarray]:
    """Every dataset of a file in the shared layout, checked against its own attributes.

    With `plain` a dataset that has none of these attributes, as other programs write them, is
    taken as it is.

    Raises
    ------
    InputsError
        The file is missing, truncated or not HDF5, a dataset's dtype differs from the
        declared one, or its bytes differ from the stored SHA-256.
    """
    import h5py

    if not path.is_file():
        raise InputsError(f"{path}: no such file")
    try:
        with h5py.File(path, "r") as file:
            return {
                name: item[()]
                if plain and not LAYOUT & set(item.attrs)
                else _checked(path, name, item)
                for name, item in file.items()
                if isinstance(item, h5py.Dataset)
            }
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise InputsError(f"{path}: not a readable HDF5 file ({reason})") from error


def read_attributes(path: Path) -> dict[str, Any]:
    """The attributes of the file itself."""
    import h5py

    with h5py.File(path, "r") as file:
        return dict(file.attrs)


def stored_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Shape of every dataset of `path`, without reading them; raises `InputsError`."""
    import h5py

    if not path.is_file():
        raise InputsError(f"{path}: no such file")
    try:
        with h5py.File(path, "r") as file:
            return {k: v.shape for k, v in file.items() if isinstance(v, h5py.Dataset)}
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise InputsError(f"{path}: not a readable HDF5 file ({reason})") from error


def describe_file(path: Path) -> list[dict[str, Any]]:
    """Name, shape, range and attributes of every dataset of `path`, checked as by `read_arrays`."""
    import h5py

    arrays = read_arrays(path)
    with h5py.File(path, "r") as file:
        return [
            {
                "name": name,
                "shape": array.shape,
                "range": f"{array.min():.6g} … {array.max():.6g}" if array.size else "empty",
                **{key: str(value) for key, value in file[name].attrs.items()},
            }
            for name, array in arrays.items()
        ]


LAYOUT = frozenset({"axes", "dtype", "sha256"})


def _checked(path: Path, name: str, dataset: h5py.Dataset) -> np.ndarray:
    array = np.asarray(dataset[()])
    declared = str(dataset.attrs.get("dtype", ""))
    if declared == "bool":
        array = array.astype(np.bool_)
    if str(array.dtype) != declared:
        raise InputsError(
            f"{path}: {name} is stored as {array.dtype} but declared as {declared or 'nothing'}"
        )
    stored = str(dataset.attrs.get("sha256", ""))
    if sha256(array) != stored:
        what = "differs from the stored one" if stored else "was never stored"
        raise InputsError(f"{path}: the SHA-256 of {name} {what}; the file is damaged")
    return array


def load_inputs(
    example: Example, path: Path | None = None, size: Size | None = None
) -> dict[str, np.ndarray]:
    """The array arguments of `example` from `path`, checked.

    Parameters
    ----------
    path
        Default: the committed file of the check size.
    size
        Whose shapes the arrays must have; default: the check size.

    Raises
    ------
    InputsError
        As `read_arrays`; or an array is missing, has another shape than the example
        declares, or holds NaN or Inf.
    """
    size = size or example.check
    path = path or committed_file(example)
    arrays = {name: np.asarray(a) for name, a in read_arrays(path, plain=True).items()}
    shapes = example.shapes(size)
    for name in example.arrays:
        if name not in arrays:
            found = ", ".join(sorted(arrays)) or "nothing"
            raise InputsError(f"{path}: no dataset {name} (found: {found})")
        array = arrays[name]
        if array.dtype.kind not in "fciub":
            raise InputsError(f"{path}: {name} is of dtype {array.dtype}; arrays hold numbers")
        if array.shape != tuple(shapes[name]):
            raise InputsError(
                f"{path}: {name} has shape {array.shape}, but {example.name} at n = {size.n} "
                f"needs {shapes[name]}"
            )
        if not np.all(np.isfinite(array)):
            bad = int(np.size(array) - np.count_nonzero(np.isfinite(array)))
            first = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputsError(f"{path}: {name} holds {bad} NaN or Inf, the first at {first}")
    return {name: arrays[name] for name in example.arrays}


def ensure_inputs(example: Example) -> dict[str, np.ndarray]:
    """The check-size arrays of `example`; the file is made from the example's seed if missing."""
    path = committed_file(example)
    if not path.exists():
        make_file(example, example.check, path)
    return load_inputs(example, path)


def inputs(
    example: Example, n: int, dtype: str = "float64", seed: int | None = None
) -> dict[str, np.ndarray]:
    """The arrays of size `n` drawn from `seed` (default: the example's), in `dtype`."""
    if example.make_inputs is None:
        raise InputsError(
            f"{example.name} has the arrays of {example.file} and none of n = {n}; "
            "give its Example shapes= and make_inputs= for other sizes"
        )
    made = example.make_inputs(Size(n, 0), example.seed if seed is None else seed)
    return {name: cast(array, dtype) for name, array in made.items()}


def make_file(
    example: Example, size: Size, path: Path, dtype: str = "float64", seed: int | None = None
) -> None:
    """Draw the arrays of `size` and write them to `path`."""
    seed = example.seed if seed is None else seed
    write_arrays(
        path,
        inputs(example, size.n, dtype, seed),
        generator=example.generator,
        seed=seed,
        attributes={"example": example.name},
    )


def cast(array: np.ndarray, dtype: str) -> np.ndarray:
    """`array` in the precision of `dtype`; integers and booleans stay as they are."""
    if array.dtype.kind == "c":
        return array.astype({"float64": "complex128", "float32": "complex64"}[dtype])
    return array.astype(dtype) if array.dtype.kind == "f" else array


def save_gradient(
    example: str,
    name: str,
    gradient: np.ndarray | Mapping[str, np.ndarray],
    folder: Path | None = None,
) -> Path:
    """Write one gradient in the layout of the inputs; returns the file.

    Parameters
    ----------
    name
        Of the file: ``<folder>/gradients/<name>.h5``.
    gradient
        An array, stored as ``gradient``, or arrays by the name of their argument.
    folder
        Default: ``results/<example>`` in the current folder.
    """
    arrays = gradient if isinstance(gradient, Mapping) else {"gradient": gradient}
    path = (folder or Path("results") / example) / "gradients" / f"{name}.h5"
    write_arrays(path, arrays, attributes={"example": example})
    return path


def committed_file(example: Example) -> Path:
    """The file with the check-size arrays of `example`, whether or not it exists."""
    return example.file
