"""JAX: staging, synchronisation, the user's model.py, and what is said when it is wrong."""

import sys

import numpy as np
import pytest

from pyweanj.example import Size
from pyweanj.systems import CompileError, Direction, UnsupportedError
from pyweanj.systems import jax as module
from pyweanj.systems.jax import Jax
from tests.systems.cases import Case, gradient, implementation, system, user_problem

X = {"x": np.array([1.0, -2.0, 3.0])}
SQUARES = "def loss(x):\n    return (x ** 2).sum()\n"


def test_the_phases_are_figures_of_their_own():
    phases = implementation("jax", Case("lexicographic", Size(5, 3))).phases
    assert set(phases) == {"trace_s", "lower_s", "compile_s", "first_call_s"}
    assert all(seconds > 0 for seconds in phases.values())
    # XLA takes most of it: a compile in the first call would show there.
    assert phases["first_call_s"] < phases["compile_s"]


def test_no_call_compiles(tmp_path):
    import jax

    made = system("jax").prepare(user_problem(tmp_path, SQUARES, X))
    compiled = []
    listener = lambda name, *_, **__: compiled.append(name)  # noqa: E731
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        made.sample("forward", 2)
        made.sample("gradient", 2)
        made.losses(Direction(entry=("x", (0,))), [1.0])
        assert compiled == []
        made.jvp(Direction(entry=("x", (0,))))  # compiles on demand, so that the listener is live
        assert compiled
    finally:
        jax.monitoring.clear_event_listeners()


class Unfinished:
    """An array in flight: it remembers whether somebody waited for it."""

    def __init__(self):
        self.waited = 0

    def block_until_ready(self):
        self.waited += 1
        return self


@pytest.mark.parametrize("what", ["forward", "gradient"])
def test_every_call_waits_for_the_whole_result(what, tmp_path):
    text = "def loss(x, y):\n    return (x * y).sum()\n"
    made = system("jax").prepare(
        user_problem(
            tmp_path, text, X | {"y": X["x"]}, arguments=("x", "y"), differentiate=("x", "y")
        )
    )
    results = []

    def call(*_):
        results.append((Unfinished(), Unfinished()) if what == "gradient" else (Unfinished(),))
        return results[-1] if what == "gradient" else results[-1][0]

    made.compiled[what] = call
    made.sample(what, 3)
    assert len(results) == 3
    assert all(part.waited for result in results for part in result)


def test_the_inputs_are_copies(tmp_path):
    made = system("jax").prepare(user_problem(tmp_path, SQUARES, X))
    array = np.ones(1 << 16)  # large and aligned enough for JAX to alias it
    held = made.put(array)
    array[:] = 7
    assert float(np.asarray(held).max()) == 1


def test_memory_is_the_scratch_memory_that_xla_reports():
    made = implementation("jax", Case("lexicographic", Size(5, 3)))
    temp = made.memory("gradient")
    assert set(temp) == {"xla_temp"}
    assert temp["xla_temp"] > made.memory("forward")["xla_temp"] > 0


@pytest.mark.parametrize("analysis", [None, object()])
def test_memory_says_nothing_where_jax_tells_nothing(analysis, tmp_path):
    made = system("jax").prepare(user_problem(tmp_path, SQUARES, X))

    class Silent:
        def memory_analysis(self):
            return analysis

    made.compiled["gradient"] = Silent()
    assert made.memory("gradient") == {}
    made.compiled["gradient"] = object()
    assert made.memory("gradient") == {}


def test_a_loss_in_another_precision_is_written_as_such(tmp_path):
    import h5py

    text = "def loss(x):\n    return (x.astype('float32') ** 2).sum()\n"
    made = system("jax").prepare(user_problem(tmp_path, text, X))
    made.evaluate(tmp_path / "g.h5")
    with h5py.File(tmp_path / "g.h5") as file:
        assert file.attrs["loss_dtype"] == "float32"


def test_k_is_a_python_int_where_the_arguments_put_it(tmp_path):
    text = (
        "import functools, jax\n"
        "@functools.partial(jax.jit, static_argnums=0)\n"
        "def loss(K, x):\n"
        "    assert type(K) is int\n"
        "    for _ in range(K):\n"
        "        x = 2 * x\n"
        "    return x.sum()\n"
    )
    made = system("jax").prepare(user_problem(tmp_path, text, X, arguments=("K", "x")))
    loss, found = gradient(made)
    assert loss == 16.0
    np.testing.assert_array_equal(found["x"], [8.0, 8.0, 8.0])


MIXED = {
    "scale": np.array(2.5),
    "mask": np.array([True, False, True]),
    "count": np.array([1, 2, 3]),
    "x": X["x"],
}


def test_scalars_integers_and_booleans_cross_as_they_are(tmp_path):
    text = (
        "def loss(x, mask, count, scale):\n"
        "    assert mask.dtype == bool and count.dtype == 'int64' and scale.shape == ()\n"
        "    return scale * (x * mask * count).sum()\n"
    )
    made = system("jax").prepare(
        user_problem(
            tmp_path,
            text,
            MIXED,
            arguments=("x", "mask", "count", "scale"),
            differentiate=("scale", "x"),
        )
    )
    loss, found = gradient(made)
    assert loss == 25.0
    assert found["scale"].shape == ()
    assert float(found["scale"]) == 10.0
    np.testing.assert_array_equal(found["x"], [2.5, 0.0, 7.5])
    assert made.jvp(Direction(entry=("scale", ()))) == 10.0
    assert made.losses(Direction(entry=("scale", ())), [1.0]) == [35.0]


def test_complex_arrays(tmp_path):
    text = "def loss(z):\n    return (z * z).real.sum()\n"
    arrays = {"z": np.array([1 + 2j, 3 - 1j])}
    made = system("jax").prepare(
        user_problem(tmp_path, text, arrays, arguments=("z",), differentiate=("z",))
    )
    loss, found = gradient(made)
    assert loss == 5.0
    np.testing.assert_array_equal(found["z"], 2 * arrays["z"])
    assert made.jvp(Direction(entry=("z", (1,)))) == 6.0


OWN = {
    "alone": "2 * x",
    "tuple": "(2 * x,)",
    "list": "[2 * x]",
    "mapping": "{'x': 2 * x}",
}


@pytest.mark.parametrize("returned", OWN.values(), ids=OWN)
def test_a_gradient_of_the_users_own(returned, tmp_path):
    text = SQUARES + f"def own(x):\n    return {returned}\n"
    made = system("jax").prepare(user_problem(tmp_path, text, X, gradients={"jax": "own"}))
    _, found = gradient(made)
    np.testing.assert_array_equal(found["x"], 2 * X["x"])


def test_a_gradient_of_the_users_own_is_used_even_if_wrong(tmp_path):
    text = SQUARES + "def own(x):\n    return 3 * x\n"
    made = system("jax").prepare(user_problem(tmp_path, text, X, gradients={"jax": "own"}))
    np.testing.assert_array_equal(gradient(made)[1]["x"], 3 * X["x"])


def test_modules_beside_the_model_can_be_imported(tmp_path):
    (tmp_path / "pyweanj_beside.py").write_text("two = 2\n")
    text = "from pyweanj_beside import two\ndef loss(x):\n    return (x ** two).sum()\n"
    try:
        assert gradient(system("jax").prepare(user_problem(tmp_path, text, X)))[0] == 14.0
    finally:
        sys.path.remove(str(tmp_path))


# What the user wrote, and what the one line must say.
WRONG = {
    "array": ("def loss(x):\n    return x\n", r"loss returns an array of shape \(3,\)"),
    "pair": ("def loss(x):\n    return x.sum(), 1\n", "loss returns tuple; a loss is one real"),
    "integer": ("def loss(x):\n    return x.sum().astype(int)\n", "a scalar of dtype int64"),
    "complex": ("def loss(x):\n    return x.sum() * 1j\n", "a scalar of dtype complex128"),
    "arguments": (
        "def loss(x, y):\n    return x.sum()\n",
        r"missing a required argument: 'y' \(model.py:1\)",
    ),
    "tracer": (
        "def loss(x):\n    if x[0] > 0:\n        return x[0]\n    return x[1]\n",
        r"TracerBoolConversionError: .*\(model.py:2\)",
    ),
    "syntax": ("\ndef loss(x:\n", r"SyntaxError: .*\(model.py:2\)"),
    "import": ("import pyweanj_no_such\n", r"No module named 'pyweanj_no_such' \(model.py:1\)"),
    "raises": ("\n\n1 / 0\n", r"ZeroDivisionError: division by zero \(model.py:3\)"),
    "gradient shape": (SQUARES + "def own(x):\n    return x[:2]\n", r"shapes \[\(2,\)\], not"),
    "gradient count": (SQUARES + "def own(x):\n    return x, x\n", r"\(3,\), \(3,\)\], not"),
    "gradient name": (SQUARES + "def own(x):\n    return {'y': x}\n", "returns nothing for x"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_an_error_of_the_users_is_one_line(text, message, tmp_path):
    own = {"jax": "own"} if "own" in text else {}
    with pytest.raises(CompileError, match=message) as caught:
        system("jax").prepare(user_problem(tmp_path, text, X, gradients=own))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def los(x):\n    return x.sum()\n", r"no function loss \(found: los\)"),
        ("from math import sin\n", r"no function loss \(found: no function\)"),
    ],
)
def test_a_model_without_the_loss_is_unsupported(text, message, tmp_path):
    with pytest.raises(UnsupportedError, match=message):
        system("jax").prepare(user_problem(tmp_path, text, X))


def test_no_model_is_unsupported(tmp_path):
    problem = user_problem(tmp_path, SQUARES, X, file="model.jl")
    with pytest.raises(UnsupportedError, match=r"no model\.py"):
        system("jax").prepare(problem)


GPU = {
    "no driver": ({}, "no NVIDIA GPU is visible"),
    "hidden": ({"driver": True, "hide": True}, "CUDA_VISIBLE_DEVICES hides every GPU"),
    "no plug-in": ({"driver": True}, "plug-in is not installed"),
    "ready": ({"driver": True, "plugin": True}, ""),
}


@pytest.mark.parametrize(("machine", "reason"), GPU.values(), ids=GPU)
def test_a_gpu_needs_a_driver_and_the_plug_in(machine, reason, monkeypatch):
    real = module.Path.exists
    driver = bool(machine.get("driver"))
    monkeypatch.setattr(
        module.Path,
        "exists",
        lambda path: driver if "nvidia" in str(path) else real(path),
    )
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    monkeypatch.setattr(
        module, "_plugins", lambda: ["jax-cuda12-plugin"] if machine.get("plugin") else []
    )
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if machine.get("hide"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    found = Jax.probe("gpu")
    assert found.available == (not reason)
    assert reason in found.reason
    assert bool(found.remedy) == bool(reason)


def test_the_environment_asks_for_full_precision():
    for device, platforms in (("cpu", "cpu"), ("gpu", "cuda,cpu")):
        environ = Jax.environ(device, 2)
        assert environ["JAX_PLATFORMS"] == platforms
        assert environ["JAX_ENABLE_X64"] == "1"
        assert environ["JAX_DEFAULT_MATMUL_PRECISION"] == "highest"
        assert environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert system("jax").settings()["jax_enable_x64"] == 1
