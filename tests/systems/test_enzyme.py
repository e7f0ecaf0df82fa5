"""Enzyme.jl through juliacall: its start-up here, and everything else in a real worker.

juliacall is never imported in this process.  What needs a Julia is marked ``julia`` and
skipped, with the reason, where none is set up.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyweanj import protocol, systems
from pyweanj.example import Problem, Size, Variant
from pyweanj.examples.gauss_seidel.example import example
from pyweanj.examples.gauss_seidel.oracle import loss_and_gradient
from pyweanj.inputs import load_inputs, make_file, read_arrays, sha256, write_arrays
from pyweanj.records import Outcome
from pyweanj.run.process import WorkerError, WorkerProcess
from pyweanj.systems.enzyme import Enzyme
from tests.test_julia_project import make

PATIENCE = 1800.0
"""Seconds for one answer: on a machine where nothing is compiled yet, a start takes minutes."""

PUBLISHED = {
    "lexicographic": ("0.105860373742", "6.409859e-04"),
    "red-black": ("0.105843754705", "6.366981e-04"),
}


# ------------------------------------------------------------------ without Julia


def test_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHON_JULIACALL_EXE", "/a/julia")
    monkeypatch.setenv("PYTHON_JULIACALL_PROJECT", "/a/project")
    monkeypatch.setenv("JULIA_NUM_THREADS", "4")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/local/cuda-12/lib64:/opt/lib")
    monkeypatch.setenv("JULIA_DEPOT_PATH", str(tmp_path))
    changes = Enzyme.environ("cpu", 1)
    assert changes["JULIA_NUM_THREADS"] == changes["PYTHON_JULIACALL_THREADS"] == "1"
    assert changes["PYTHON_JULIACALL_EXE"] == "/a/julia"
    assert changes["PYTHON_JULIACALL_PROJECT"] == "/a/project"
    assert changes["PYTHON_JULIACALL_HANDLE_SIGNALS"] == "yes"
    assert changes["PYTHONFAULTHANDLER"] is None
    assert changes["JULIA_PROJECT"] is None
    assert changes["PYTHON_JULIAPKG_OFFLINE"] == "yes"
    assert changes["LD_LIBRARY_PATH"] == "/opt/lib"
    assert "JULIA_DEPOT_PATH" not in changes  # the folder can be written to
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/local/cuda-12/lib64")
    assert Enzyme.environ("cpu", 1)["LD_LIBRARY_PATH"] is None


def test_a_depot_that_cannot_be_written_gets_one_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JULIA_DEPOT_PATH", f"{tmp_path}/shared:/site/depot")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    expected = f"{tmp_path}/cache/pyweanj/julia:{tmp_path}/shared:/site/depot:"
    assert Enzyme.environ("cpu", 1)["JULIA_DEPOT_PATH"] == expected


def test_probe_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    choice = make(tmp_path / "julia")
    monkeypatch.setenv("PYTHON_JULIACALL_EXE", str(choice.exe))
    monkeypatch.setenv("PYTHON_JULIACALL_PROJECT", str(choice.project))
    assert Enzyme.probe("cpu").available
    found = Enzyme.probe("gpu")
    assert not found.available
    assert "lacks CUDA" in found.reason
    (choice.project / "Manifest.toml").unlink()
    found = Enzyme.probe("cpu")
    assert not found.available
    assert "Manifest.toml" in found.reason
    assert "instantiate" in found.remedy


def test_a_program_that_is_not_julia_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choice = make(tmp_path / "julia")
    monkeypatch.setenv("PYTHON_JULIACALL_EXE", str(choice.exe))
    monkeypatch.setenv("PYTHON_JULIACALL_PROJECT", str(choice.project))
    with worker(tmp_path / "log") as process, pytest.raises(WorkerError) as caught:
        process.start(60)
    assert caught.value.outcome is Outcome.UNAVAILABLE
    assert "Julia does not start" in caught.value.message
    assert "shows why" in caught.value.remedy


# ------------------------------------------------------------------ with Julia


@contextmanager
def worker(log: Path, threads: int = 1) -> Iterator[WorkerProcess]:
    process = WorkerProcess("enzyme", "cpu", threads=threads, cores=(), log=log)
    try:
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="module")
def available() -> None:
    found = Enzyme.probe("cpu")
    if not found.available:
        pytest.skip(f"no Julia: {found.reason}; {found.remedy}")


@pytest.fixture(scope="module")
def julia(available: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    """One worker for all tests of this module; ``said`` is its answer to ``start``."""
    # The user's shell must not decide how many threads there are.
    os.environ["JULIA_NUM_THREADS"] = "4"
    try:
        with worker(tmp_path_factory.mktemp("julia") / "log") as process:
            process.said = process.start(PATIENCE)  # type: ignore[attr-defined]
            yield process
    finally:
        del os.environ["JULIA_NUM_THREADS"]


def gauss_seidel(
    folder: Path, variant: str, size: Size, dtype: str = "float64", inputs: Path | None = None
) -> Problem:
    if inputs is None:
        inputs = folder / f"n{size.n}_{dtype}.h5"
        make_file(example, size, inputs, dtype)
    return Problem(
        example.folder,
        example.variant(variant),
        example.arguments,
        example.differentiate,
        size,
        dtype,
        inputs,
    )


class Asked:
    """One prepared problem of a worker."""

    def __init__(self, process: WorkerProcess, problem: Problem, handle: str = "p") -> None:
        self.process, self.handle = process, handle
        data = protocol.problem_to_json(problem, "02-gauss-seidel")
        self.said = process.ask("prepare", PATIENCE, handle=handle, problem=data)

    def __call__(self, verb: str, **arguments: Any) -> Any:
        return self.process.ask(verb, PATIENCE, handle=self.handle, **arguments)


@pytest.mark.julia
@pytest.mark.parametrize("variant", list(PUBLISHED))
def test_the_published_figures(variant: str, julia: WorkerProcess, tmp_path: Path) -> None:
    committed = example.data / "inputs.h5"
    asked = Asked(julia, gauss_seidel(tmp_path, variant, example.check, inputs=committed))
    arrays = load_inputs(example)
    assert asked.said["input_sha256"] == {name: sha256(a) for name, a in arrays.items()}
    loss = asked("evaluate", output=str(tmp_path / "g.h5"))["loss"]
    gradient = read_arrays(tmp_path / "g.h5")["theta"]
    assert (f"{loss:.12f}", f"{np.linalg.norm(gradient):.6e}") == PUBLISHED[variant]
    _, expected = loss_and_gradient(variant, arrays, example.check.K)
    assert np.linalg.norm(gradient - expected["theta"]) < 1e-13 * np.linalg.norm(gradient)
    assert asked("hash")["input_sha256"] == asked.said["input_sha256"]
    phases = asked.said["phases"]
    assert set(phases) == {"model_s", "first_call_s", "compile_s"}
    assert 0 <= phases["compile_s"] <= phases["first_call_s"]


@pytest.mark.julia
@pytest.mark.parametrize("variant", list(PUBLISHED))
def test_float32_is_computed_in_float32(variant: str, julia: WorkerProcess, tmp_path: Path) -> None:
    size = Size(16, 10)
    asked = Asked(julia, gauss_seidel(tmp_path, variant, size, "float32"))
    asked("evaluate", output=str(tmp_path / "g.h5"))
    gradient = read_arrays(tmp_path / "g.h5")["theta"]
    assert gradient.dtype == np.float32
    _, expected = loss_and_gradient(variant, example.make_inputs(size, example.seed), size.K)
    error = np.linalg.norm(gradient - expected["theta"]) / np.linalg.norm(expected["theta"])
    assert 1e-9 < error < 1e-5  # single precision, and really single


@pytest.mark.julia
@pytest.mark.parametrize("variant", list(PUBLISHED))
def test_directions(variant: str, julia: WorkerProcess, tmp_path: Path) -> None:
    size = Size(9, 7)
    asked = Asked(julia, gauss_seidel(tmp_path, variant, size))
    loss = asked("evaluate", output=str(tmp_path / "g.h5"))["loss"]
    gradient = read_arrays(tmp_path / "g.h5")["theta"]
    entry = {"entry": ["theta", [2, 5]]}
    assert asked("jvp", direction=entry)["jvp"] == pytest.approx(gradient[2, 5], rel=1e-10)
    up, middle, down = asked("losses", direction=entry, steps=[0.01, 0.0, -0.01])["losses"]
    assert middle == loss
    assert (up - down) / 0.02 == pytest.approx(gradient[2, 5], rel=1e-7)
    direction = np.random.default_rng(3).standard_normal(gradient.shape)
    write_arrays(tmp_path / "v.h5", {"theta": direction})
    along = {"file": str(tmp_path / "v.h5")}
    expected = float(np.sum(gradient * direction))
    assert asked("jvp", direction=along)["jvp"] == pytest.approx(expected, rel=1e-12)
    up, down = asked("losses", direction=along, steps=[0.01, -0.01])["losses"]
    assert (up - down) / 0.02 == pytest.approx(expected, rel=1e-7)


@pytest.mark.julia
def test_samples_memory_and_bridge(julia: WorkerProcess, tmp_path: Path) -> None:
    asked = Asked(julia, gauss_seidel(tmp_path, "lexicographic", Size(32, 20)))
    for what in ("forward", "gradient"):
        assert asked("sample", what=what, calls=3)["seconds"] > 0
        assert asked("bridge", what=what, calls=3)["seconds"] > 0
    # n = 32: one shadow and u with its shadow, (32² + 2 · 34²) · 8 bytes, and little else.
    needed = (32**2 + 2 * 34**2) * 8
    found = asked("memory", what="gradient", peak=False)["memory"]
    assert set(found) == {"julia_allocated"}
    assert needed <= found["julia_allocated"] < 1.3 * needed


@pytest.mark.julia
def test_what_the_worker_says_of_itself(julia: WorkerProcess) -> None:
    said = julia.said  # type: ignore[attr-defined]
    assert said["settings"]["threads"] == 1  # not the 4 of the shell
    assert said["settings"]["blas_threads"] == 1
    assert said["settings"]["handle_signals"] == "yes"
    assert said["settings"]["startup_file"] == "no"
    assert set(said["phases"]) == {"import_s", "load_s"}
    for name in ("Julia", "juliacall", "PythonCall", "Enzyme", "KernelAbstractions", "HDF5"):
        assert said["versions"][name][0].isdigit()
    assert said["versions"]["juliacall"] == said["versions"]["PythonCall"]


MODEL = """
function loss(x, y, K)
    total = zero(eltype(x))
    for j in axes(x, 2), i in axes(x, 1)
        total += (K * x[i, j] - y[i, j])^2
    end
    return total
end
transposed(x, y, K) = permutedims(2 .* K .* (K .* x .- y))
mutating(x, y, K) = (x[1] += 1; sum(abs2, x))
raises(x, y, K) = error("broken on purpose\\nand a second line")
crashes(x, y, K) = unsafe_load(Ptr{Float64}(8)) * sum(x)
"""


def own(folder: Path, loss: str, gradient: str | None = None, model: str = MODEL) -> Problem:
    """A 3 × 5 misfit of the user's own: not square, not symmetric."""
    folder.mkdir(exist_ok=True)
    (folder / "model.jl").write_text(model)
    rng = np.random.default_rng(5)
    arrays = {"x": rng.standard_normal((3, 5)), "y": rng.standard_normal((3, 5))}
    write_arrays(folder / "inputs.h5", arrays)
    gradients = {"enzyme": gradient} if gradient else {}
    variant = Variant("mine", loss=loss, gradients=gradients)
    size = Size(3, 2)
    inputs = folder / "inputs.h5"
    return Problem(folder, variant, ("x", "y", "K"), ("x",), size, "float64", inputs)


@pytest.mark.julia
def test_a_model_of_the_users_own(julia: WorkerProcess, tmp_path: Path) -> None:
    problem = own(tmp_path / "mine", "loss")
    asked = Asked(julia, problem)
    arrays = read_arrays(problem.inputs)
    assert asked.said["input_sha256"] == {name: sha256(a) for name, a in arrays.items()}
    residual = 2 * arrays["x"] - arrays["y"]
    for _ in range(3):  # shadows do not accumulate
        loss = asked("evaluate", output=str(tmp_path / "g.h5"))["loss"]
        assert loss == pytest.approx(np.sum(residual**2), rel=1e-14)
        gradient = read_arrays(tmp_path / "g.h5")["x"]
        np.testing.assert_allclose(gradient, 4 * residual, rtol=1e-13, strict=True)


@pytest.mark.julia
@pytest.mark.parametrize(
    ("loss", "gradient", "model", "outcome", "text"),
    [
        ("missing", None, MODEL, Outcome.UNSUPPORTED, "no function missing (found: crashes, loss"),
        ("loss", "no_gradient", MODEL, Outcome.UNSUPPORTED, "no function no_gradient"),
        ("raises", None, MODEL, Outcome.COMPILE_ERROR, "broken on purpose (model.jl:"),
        ("mutating", None, MODEL, Outcome.COMPILE_ERROR, "the loss writes into x (model.jl:"),
        ("loss", "transposed", MODEL, Outcome.COMPILE_ERROR, "size (5, 3) for x of size (3, 5)"),
        ("loss", None, "loss(x = (", Outcome.COMPILE_ERROR, "model.jl:1"),
        ("loss", None, "using NoSuchPackage", Outcome.COMPILE_ERROR, "NoSuchPackage"),
    ],
)
def test_refusals(
    loss: str,
    gradient: str | None,
    model: str,
    outcome: Outcome,
    text: str,
    julia: WorkerProcess,
    tmp_path: Path,
) -> None:
    with pytest.raises(WorkerError) as caught:
        Asked(julia, own(tmp_path / "mine", loss, gradient, model))
    assert caught.value.outcome is outcome
    assert text in caught.value.message
    assert "\n" not in caught.value.message
    assert julia.alive


@pytest.mark.julia
def test_no_model_at_all(julia: WorkerProcess, tmp_path: Path) -> None:
    problem = own(tmp_path / "mine", "loss")
    (tmp_path / "mine" / "model.jl").unlink()
    with pytest.raises(WorkerError, match=r"has no model\.jl") as caught:
        Asked(julia, problem)
    assert caught.value.outcome is Outcome.UNSUPPORTED


@pytest.mark.julia
def test_a_segmentation_fault_ends_the_worker_with_its_signal(
    available: None, tmp_path: Path
) -> None:
    with worker(tmp_path / "log") as process:
        process.start(PATIENCE)
        with pytest.raises(WorkerError) as caught:
            Asked(process, own(tmp_path / "mine", "crashes"))
    assert caught.value.outcome is Outcome.CRASHED
    assert caught.value.exit_status == -signal.SIGSEGV
    assert "SIGSEGV" in caught.value.message


NUMPY = """
import numpy as np
from pyweanj.inputs import sha256
from pyweanj.systems.enzyme import Enzyme

Enzyme().start("cpu", 1)
import juliacall

jl = juliacall.Main
rng = np.random.default_rng(2)
x, y = rng.standard_normal((3, 5)), rng.standard_normal((3, 5))
x.flags.writeable = False
assert str(jl.typeof(x)).startswith("PyArray"), "Julia sees no PyArray: this tests nothing"
loss = jl.seval("only_arrays(x::Array, y::Array) = sum(abs2, x .* y)")
gradient = np.asarray(jl.WEANJ.gradient(loss, x, y))
np.testing.assert_allclose(gradient, 2 * x * y**2, rtol=1e-14, strict=True)
assert jl.WEANJ.array_sha256(x) == sha256(x)
u, v = rng.standard_normal((6, 6)), rng.standard_normal((6, 6))
for name in ("gs_gradient", "rb_gradient"):
    seen = jl.seval(f"(u, v) -> WEANJ.GaussSeidel.{name}(u, v, 4)")(u, v)
    meant = jl.seval(f"(u, v) -> WEANJ.GaussSeidel.{name}(Array(u), Array(v), 4)")(u, v)
    np.testing.assert_array_equal(np.asarray(seen), np.asarray(meant))
    assert np.any(np.asarray(seen))
print("converted")
"""


@pytest.mark.julia
def test_numpy_arrays_are_converted_at_the_entry(available: None) -> None:
    env = dict(os.environ)
    for name, value in Enzyme.environ("cpu", 1).items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    # The end of Julia inside Python may crash: what was printed decides.
    done = subprocess.run(
        [sys.executable, "-c", NUMPY], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["converted"], done.stderr


def test_the_interface_is_complete() -> None:
    assert systems.load("enzyme") is Enzyme
    assert not getattr(Enzyme, "__abstractmethods__", None)
