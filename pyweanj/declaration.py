"""What an `Example` must fulfil before anything is run: a wrong one is told in one line.

The declaration itself is looked at when an example is found, and its functions are called
once, at the check size, when a run is prepared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyweanj.errors import UsageError, unknown
from pyweanj.example import DTYPES, Example

if TYPE_CHECKING:
    from pyweanj.example import Arrays

__all__ = ["examine", "examine_arrays", "in_user_code", "place"]


def examine(example: Example) -> None:
    """Whether the names in `example` fit together; calls none of its functions.

    Raises
    ------
    UsageError
        They do not: one line that says which one and what to write instead.
    """
    if not example.variants:
        raise UsageError("Example has no variants; give it variants=(Variant(…),)")
    _unique("variant", [variant.name for variant in example.variants])
    _unique("argument", example.arguments)
    if not example.differentiate:
        raise UsageError("Example differentiates nothing; name arguments in differentiate=(…,)")
    for what in ("arguments", "differentiate", "dtypes"):
        if isinstance(getattr(example, what), str):
            raise UsageError(f"{what} is a string; write {what}=({getattr(example, what)!r},)")
    for name in example.differentiate:
        if name not in example.arrays:
            raise unknown("argument in differentiate:", name, example.arrays)
    for dtype in (*example.dtypes, *example.tolerance):
        if dtype not in DTYPES:
            raise unknown("dtype", dtype, DTYPES)
    _examine_variants(example)
    if (example.make_inputs is None) != example.draws_shapes_from_file:
        given, missing = ("shapes", "make_inputs")
        if example.make_inputs is not None:
            given, missing = missing, given
        raise UsageError(f"Example has {given} but no {missing}; give both, or an HDF5 file alone")
    if example.make_inputs is None:
        other = [size.n for size in _sizes(example) if size.n != example.check.n]
        if other:
            raise UsageError(
                f"Example has a size n = {other[0]}, but only the arrays of {example.file.name} "
                f"(n = {example.check.n}); give it make_inputs=, or no other n"
            )


def examine_arrays(example: Example, arrays: Arrays) -> None:
    """Whether what `make_inputs` returned is what the losses are called with.

    Raises
    ------
    UsageError
        An array is missing, is of another shape than `Example.shapes` says, holds NaN or
        Inf, or cannot be differentiated.
    """
    import numpy as np

    shapes = example.shapes(example.check)
    for name in example.arrays:
        for what, found in (("shapes", shapes), ("make_inputs", arrays)):
            if name not in found:
                raise UsageError(f"{what} returns no {name!r} (found: {', '.join(found) or '–'})")
        array = np.asarray(arrays[name])
        if array.shape != tuple(shapes[name]):
            raise UsageError(
                f"make_inputs returns {name!r} of shape {array.shape}, "
                f"but shapes says {tuple(shapes[name])}"
            )
        if array.dtype.kind not in "fciub":
            raise UsageError(f"{name!r} is of dtype {array.dtype}; arrays hold numbers")
        if not np.all(np.isfinite(array)):
            raise UsageError(f"{name!r} holds NaN or Inf")
        if name in example.differentiate and array.dtype.kind not in "fc":
            raise UsageError(
                f"{name!r} is of dtype {array.dtype} and cannot be differentiated; "
                "make it floating point, or leave it out of differentiate"
            )


@contextlib.contextmanager
def in_user_code(example: Example) -> Iterator[None]:
    """Whatever goes wrong in a function of `example` is told with the user's file and line.

    Raises
    ------
    UsageError
        Instead of any other exception.
    """
    from pyweanj.inputs import InputsError

    file = example.folder / "example.py"
    try:
        yield
    except InputsError:
        raise  # names its own file
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UsageError(f"{file}{place(error, file.parent)}: {text}") from error


def place(error: BaseException, folder: Path) -> str:
    """``:LINE`` of the innermost frame in ``folder/example.py``, or nothing."""
    file = str(folder / "example.py")
    if isinstance(error, SyntaxError) and error.filename == file:
        return f":{error.lineno}"
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f":{line}" if line else ""


def _examine_variants(example: Example) -> None:
    from pyweanj.systems import SYSTEMS

    for variant in example.variants:
        if isinstance(variant.systems, str):
            raise UsageError(f"systems is a string; write systems=({variant.systems!r},)")
        for system in (*variant.systems, *variant.gradients):
            if system not in SYSTEMS:
                raise unknown(f"system of variant {variant.name!r}:", system, SYSTEMS)


def _sizes(example: Example) -> Iterable:
    return (*example.timing, *example.memory, *example.quick)


def _unique(what: str, names: Iterable[str]) -> None:
    names = list(names)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{what} {name!r} is there twice")
