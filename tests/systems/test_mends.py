"""Errors that teach: what a user wrote, and the line of the file and the mend that they are told.

Each is prepared in a real worker, as a run does it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from pyweanj import protocol, systems
from pyweanj.example import Problem, Size, Variant
from pyweanj.inputs import write_arrays
from pyweanj.records import Outcome
from pyweanj.run.process import WorkerError, WorkerProcess
from pyweanj.systems.mends import MENDS, mend

FILES = {"jax": "model.py", "enzyme": "model.jl", "enzyme-cpp": "model.cpp"}
JAX = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"
CPP = (
    "template <usz K, typename T, usz m, usz n>\nvoid {}(enzyme::tensor<T>& loss, {}) {{\n{}\n}}\n"
)
TENSOR = "const enzyme::tensor<T, m, n>& x, const enzyme::tensor<bool, n>& mask"


class Wrong(NamedTuple):
    system: str
    model: str
    says: str
    where: str
    mend: str
    outcome: Outcome = Outcome.COMPILE_ERROR


WRONG = {
    "jax no file": Wrong("jax", "", "has no model.py", "", "write that file", Outcome.UNSUPPORTED),
    "jax name": Wrong(
        "jax", "def los(x, mask, K):\n    return x.sum()\n", "no function loss (found: los)", "",
        "change the name in example.py", Outcome.UNSUPPORTED,
    ),
    "jax arguments": Wrong(
        "jax", "\n\ndef loss(x, K):\n    return x.sum()\n", "too many positional arguments",
        "(model.py:3)", "the arguments of example.py",
    ),
    "jax array": Wrong(
        "jax", "def loss(x, mask, K):\n    return x\n", "an array of shape (3, 5)", "(model.py:1)",
        "return one number",
    ),
    "jax branch": Wrong(
        "jax",
        "def loss(x, mask, K):\n    if x[0, 0] > 0:\n        return x.sum()\n    return 0.0\n",
        "TracerBoolConversionError", "(model.py:2)", "jnp.where",
    ),
    "jax numpy": Wrong(
        "jax", JAX + "def loss(x, mask, K):\n    return np.sum(np.tanh(np.array(x)))\n",
        "TracerArrayConversionError", "(model.py:5)", "jax.numpy instead of numpy",
    ),
    "jax loop": Wrong(
        "jax",
        JAX + "def loss(x, mask, K):\n"
        "    return jax.lax.while_loop(lambda s: s < 9, lambda s: s * 2, 1 + jnp.sum(x**2))\n",
        "Reverse-mode differentiation does not work", "(model.py:4)", "jax.lax.scan",
    ),
    "jax mutation": Wrong(
        "jax", "def loss(x, mask, K):\n    x[0, 0] = 1\n    return x.sum()\n",
        "immutable", "(model.py:2)", "x.at[i].set",
    ),
    "jax raises": Wrong(
        "jax", "def loss(x, mask, K):\n    raise KeyError('k')\n", "KeyError: 'k'", "(model.py:2)",
        "",
    ),
    "enzyme no file": Wrong(
        "enzyme", "", "has no model.jl", "", "write that file", Outcome.UNSUPPORTED
    ),
    "enzyme name": Wrong(
        "enzyme", "los(x, mask, K) = sum(x)\n", "no function loss (found: los)", "",
        "change the name in example.py", Outcome.UNSUPPORTED,
    ),
    "enzyme arguments": Wrong(
        "enzyme", "\n\nloss(x, K) = sum(x)\n",
        "(x::Matrix{Float64}, mask::Vector{Bool}, K::Int64) and has no method",
        "(model.jl:3)", "the arguments of example.py",
    ),
    "enzyme array": Wrong(
        "enzyme", "loss(x, mask, K) = 2 .* x\n", "the loss returns Matrix{Float64}", "(model.jl:1)",
        "return one number",
    ),
    "enzyme mutation": Wrong(
        "enzyme", "\nfunction loss(x, mask, K)\n    x .*= 2\n    return sum(x)\nend\n",
        "the loss writes into x", "(model.jl:2)", "copy(x)",
    ),
    "enzyme bounds": Wrong(
        "enzyme", "loss(x, mask, K) = sum(abs2, x) +\n    x[0, 1]\n", "BoundsError", "(model.jl:",
        "counts from 1",
    ),
    "enzyme undefined": Wrong(
        "enzyme", "loss(x, mask, K) = sum(abs2, x) + nothing_such\n", "UndefVarError",
        "(model.jl:1)", "define it in model.jl",
    ),
    "enzyme runtime activity": Wrong(
        "enzyme",
        "const HELD = zeros(15)\n"
        "pick(a, b, flag) = flag ? a : b\n"
        "function loss(x, mask, K)\n"
        "    v = pick(vec(x), HELD, mask[1])\n"
        "    return sum(abs2, v)\n"
        "end\n",
        "EnzymeRuntimeActivityError", "(model.jl:", "copy the constant",
    ),
    "enzyme closure": Wrong(
        "enzyme",
        "using Enzyme\n"
        "inner(x, buffer) = (buffer .= 2 .* x; sum(abs2, buffer))\n"
        "loss(x, mask, K) = sum(abs2, x)\n"
        "function own(x, mask, K)\n"
        "    buffer, dx = zero(x), zero(x)\n"
        "    f = x -> inner(x, buffer)\n"
        "    Enzyme.autodiff(Reverse, f, Active, Duplicated(x, dx))\n"
        "    return dx\n"
        "end\n",
        "EnzymeMutabilityException", "(model.jl:2)", "top level of model.jl",
    ),
    "enzyme raises": Wrong(
        "enzyme", "function loss(x, mask, K)\n    error(\"no such luck\")\nend\n", "no such luck",
        "(model.jl:2)", "",
    ),
    "cpp no file": Wrong(
        "enzyme-cpp", "", "has no model.cpp", "", "write that file", Outcome.UNSUPPORTED
    ),
    "cpp header": Wrong(
        "enzyme-cpp", "#include <no_such.h>\nvoid loss();", "'no_such.h' file not found", "",
        "__builtin_sin",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """One live worker a system, started when it is first asked for."""
    live, logs = {}, tmp_path_factory.mktemp("logs")

    def get(system):
        found = systems.load(system).probe("cpu")
        if not found.available:
            pytest.skip(f"{system}: {found.reason} → {found.remedy}")
        if system not in live:
            log = logs / f"{system}.log"
            live[system] = WorkerProcess(system, "cpu", threads=1, cores=(), log=log)
            live[system].start(1800)
        return live[system]

    yield get
    for process in live.values():
        process.stop()


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(w, id=name, marks=[pytest.mark.julia] if w.system == "enzyme" else [])
        for name, w in WRONG.items()
    ],
)
def test_what_a_user_is_told(workers, wrong, tmp_path):
    worker = workers(wrong.system)
    if wrong.model:
        (tmp_path / FILES[wrong.system]).write_text(wrong.model)
    arrays = {"x": np.linspace(1, 2, 15).reshape(3, 5), "mask": np.array([True, False, True])}
    write_arrays(tmp_path / "inputs.h5", arrays)
    own = {wrong.system: "own"} if "own(" in wrong.model else {}
    variant = Variant("plain", loss="loss", gradients=own)
    inputs = tmp_path / "inputs.h5"
    arguments = ("x", "mask", "K")
    problem = Problem(tmp_path, variant, arguments, ("x",), Size(3, 2), "float64", inputs)
    with pytest.raises(WorkerError) as caught:
        data = protocol.problem_to_json(problem, str(tmp_path))
        worker.ask("prepare", 600, handle="h", problem=data)
    error = caught.value
    assert error.outcome is wrong.outcome, error.message
    assert wrong.says in error.message
    assert wrong.where in error.message
    assert "\n" not in error.message
    assert wrong.mend in error.remedy
    assert bool(error.remedy) == bool(wrong.mend)
    assert worker.alive


def test_every_mend_is_one_short_line():
    for _, advice in MENDS:
        assert "\n" not in advice
        assert len(advice) < 160


def test_an_unknown_error_has_no_mend():
    assert mend("the moon is full") == ""
