"""A wrong declaration is told in one line: what is wrong, where, and what to write instead."""

from __future__ import annotations

import pytest

from pyweanj import catalogue
from pyweanj.errors import UsageError
from pyweanj.run import Options, prepare
from tests.helpers import EXAMPLE, command, one_line, write_example

#: What stands in example.py instead, and the line that it must give.
WRONG = {
    "no variants": (
        EXAMPLE[EXAMPLE.index("    variants=") : EXAMPLE.index("    arguments=")],
        "    variants=(),\n",
        "Example has no variants",
    ),
    "variant twice": ('Variant("other"', 'Variant("good"', "variant 'good' is there twice"),
    "argument twice": ('("x", "y", "K")', '("x", "x", "K")', "argument 'x' is there twice"),
    "differentiate": ('differentiate=("x",)', 'differentiate=("z",)',
                      "unknown argument in differentiate: 'z'"),
    "nothing": ('differentiate=("x",)', "differentiate=()", "Example differentiates nothing"),
    "string": ('differentiate=("x",)', 'differentiate="x"', "write differentiate=('x',)"),
    "system": ('systems=("jax", "oracle")),', 'systems=("jacks",)),',
               "unknown system of variant 'good': 'jacks'; did you mean jax"),
    "systems string": ('systems=("jax", "oracle")),', 'systems="jax"),', "write systems=('jax',)"),
    "dtype": ("quadratic=True", 'dtypes=("float16",)', "unknown dtype 'float16'"),
    "tolerance": ("quadratic=True", 'tolerance={"double": 1e-9}', "unknown dtype 'double'"),
    "tolerance for all": ("quadratic=True", "tolerance=1e-3", 'write tolerance={"float64": 1e-10}'),
    "tolerance below 0": ("quadratic=True", 'tolerance={"float64": -1}', "it is a positive number"),
    "no step": ("quadratic=True", "fd_step=0.0", "fd_step is 0.0; it is a positive number"),
    "a name with a way out": ('name="scaled"', 'name="../../scaled"', "a name is made of letters"),
    "no name": ('name="scaled"', 'name=""', "a name is made of letters"),
    "check is a number": ("check=Size(5, 3)", "check=5", "check is 5; write check=Size(…)"),
    "timing is a size": ("timing=(Size(8, 3),)", "timing=Size(8, 3)", "write timing=(Size(…),)"),
    "timing of numbers": ("timing=(Size(8, 3),)", "timing=(8,)", "holds 8, which is no Size"),
    "folder is a string": ("folder=Path(__file__).parent", "folder='.'", "write folder=Path(…)"),
    "leaves": ("example = Example(", "raise SystemExit(0)\nexample = Example(", "SystemExit: 0"),
    "depth of nothing": ("lambda size: 4.0", "lambda size: None", "depth returns None at n = 5"),
    "depth below 0": ("lambda size: 4.0", "lambda size: -3", "depth returns -3 at n = 5"),
    "not an Example": ("example = Example(", "example = dict(", "is a dict, not a pyweanj.Example"),
    "unknown field": ("quadratic=True", "quadratik=True", "quadratik"),
    "raises": ("example = Example(", "1 / 0\nexample = Example(",
               "example.py:11: ZeroDivisionError: division by zero"),
    "syntax": ("example = Example(", "example = = Example(", "example.py:11: SyntaxError"),
    "no shapes": (
        EXAMPLE[EXAMPLE.index("    shapes=") : EXAMPLE.index("    make_inputs=")], "",
        "Example has make_inputs but no shapes",
    ),
    "depth raises": ("lambda size: 4.0", "lambda size: size.m",
                     "example.py:23: AttributeError: 'Size' object has no attribute 'm'"),
    "another shape": ('"x": (size.n, size.n + 3)', '"x": (size.n, size.n)',
                      "make_inputs returns 'x' of shape (5, 8), but shapes says (5, 5)"),
    "no array": ('"x": normals(seed, 0, (size.n, size.n + 3)), ', "",
                 "make_inputs returns no 'x' (found: y)"),
    "integers": ('"x": normals(seed, 0, (size.n, size.n + 3))',
                 '"x": np.ones((size.n, size.n + 3), int)', "cannot be differentiated"),
    "not finite": ('"x": normals(seed, 0, (size.n, size.n + 3))',
                   '"x": np.full((size.n, size.n + 3), np.nan)', "'x' holds NaN or Inf"),
    "words": ('"y": normals(seed, 1, (size.n, size.n + 3))',
              '"y": np.full((size.n, size.n + 3), "a")', "arrays hold numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "text"), WRONG.values(), ids=WRONG)
def test_a_wrong_declaration(old, new, text, tmp_path):
    assert old in EXAMPLE
    folder = write_example(tmp_path / "scaled", example=EXAMPLE.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        prepare(catalogue.load(str(folder)), str(folder), Options(tasks=("check",)))
    assert text in str(caught.value)
    assert "example.py" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_tells_it_in_one_line(tmp_path):
    write_example(tmp_path / "scaled", example=EXAMPLE.replace('("x",)', '("z",)', 1))
    done = command("compare", "scaled", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean" in one_line(done.stderr) or "known: " in one_line(done.stderr)


def test_a_right_declaration_passes(tmp_path):
    folder = write_example(tmp_path / "scaled")
    planned = prepare(catalogue.load(str(folder)), str(folder), Options(tasks=("check",))).plan
    assert len(planned) == 4
