"""What an `Example` must fulfil before anything is run: a wrong one is told in one line.

The declaration itself is looked at when an example is found, and its functions are called
once, at the check size, when a run is prepared.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pyweanj.errors import UsageError, unknown
from pyweanj.example import DTYPES, Example, Size, Variant

if TYPE_CHECKING:
    from pyweanj.example import Arrays

__all__ = ["examine", "examine_arrays", "examine_size", "in_user_code", "place"]


def examine(example: Example) -> None:
    """Whether the names in `example` fit together; calls none of its functions.

    Raises
    ------
    UsageError
        They do not: one line that says which one and what to write instead.
    """
    _examine_types(example)
    if not example.variants:
        raise UsageError("Example has no variants; give it variants=(Variant(…),)")
    _unique("variant", [variant.name for variant in example.variants])
    _unique("argument", example.arguments)
    if not example.differentiate:
        raise UsageError("Example differentiates nothing; name arguments in differentiate=(…,)")
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


def examine_size(example: Example, size: Size, memory_bytes: int | None) -> None:
    """Whether one size can be run on a machine with so much memory.

    Raises
    ------
    UsageError
        `Example.depth` is no number of operations, or the inputs alone fill a quarter of memory.
    """
    depth = example.depth(size)
    if not (isinstance(depth, int | float) and 0 <= depth < math.inf):
        raise UsageError(
            f"depth returns {depth!r} at n = {size.n}, K = {size.K}; it is a number of operations"
        )
    needed = 8 * sum(math.prod(shape) for shape in example.shapes(size).values())
    if memory_bytes and needed > memory_bytes / 4:
        raise UsageError(
            f"the inputs of n = {size.n} alone take {needed / 2**30:.3g} GiB, over a quarter of "
            f"this machine's {memory_bytes / 2**30:.3g} GiB; give a smaller n"
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
    except (Exception, SystemExit) as error:
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


#: What a name may be made of: it names a folder.
NAME = re.compile(r"\w[\w.-]*")


def _examine_types(example: Example) -> None:
    """Whether every field is of its kind."""
    if not (isinstance(example.name, str) and NAME.fullmatch(example.name)):
        raise UsageError(
            f"name is {example.name!r}; a name is made of letters, digits, '-', '_' and '.'"
        )
    for what, kind in (("folder", Path), ("check", Size)):
        if not isinstance(getattr(example, what), kind):
            raise UsageError(
                f"{what} is {getattr(example, what)!r}; write {what}={kind.__name__}(…)"
            )
    for what, kind in (
        ("variants", Variant),
        ("timing", Size),
        ("memory", Size),
        ("quick", Size),
        ("arguments", str),
        ("differentiate", str),
        ("dtypes", str),
    ):
        value = getattr(example, what)
        if isinstance(value, str) and kind is str:
            raise UsageError(f"{what} is a string; write {what}=({value!r},)")
        if not isinstance(value, tuple | list) or isinstance(value, Size):
            raise UsageError(
                f"{what} is a {type(value).__name__}; write {what}=({kind.__name__}(…),)"
            )
        for one in value:
            if not isinstance(one, kind):
                raise UsageError(f"{what} holds {one!r}, which is no {kind.__name__}")
    if not isinstance(example.tolerance, Mapping):
        raise UsageError(
            f'tolerance is {example.tolerance!r}; write tolerance={{"float64": 1e-10}}, by dtype'
        )
    for what, value in (
        ("fd_step", example.fd_step),
        *((f"tolerance of {dtype}", value) for dtype, value in example.tolerance.items()),
    ):
        if not (isinstance(value, int | float) and 0 < value < math.inf):
            raise UsageError(f"{what} is {value!r}; it is a positive number")


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
