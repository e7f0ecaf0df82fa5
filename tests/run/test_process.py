"""Workers as real processes: what they answer, and how they die."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pyweanj import catalogue, protocol
from pyweanj.example import Problem, Size
from pyweanj.inputs import make_file
from pyweanj.records import Outcome
from pyweanj.run.process import WorkerError, WorkerProcess
from tests.helpers import MODEL, write_example


@pytest.fixture
def started(tmp_path):
    """Starts JAX workers on an example with the given model, and ends them."""
    workers = []

    def start(model=MODEL):
        folder = write_example(tmp_path / "scaled", model)
        example = catalogue.load(str(folder))
        size = Size(5, 3)
        make_file(example, size, tmp_path / "inputs.h5")
        problem = Problem(
            folder=folder,
            variant=example.variant("good"),
            arguments=example.arguments,
            differentiate=example.differentiate,
            size=size,
            dtype="float64",
            inputs=tmp_path / "inputs.h5",
        )
        worker = WorkerProcess("jax", "cpu", threads=1, cores=(), log=tmp_path / "log")
        workers.append(worker)
        said = worker.start(120)
        return worker, said, protocol.problem_to_json(problem, str(folder))

    yield start
    for worker in workers:
        worker.kill()


def test_a_worker_answers(started, tmp_path):
    worker, said, problem = started()
    assert said["versions"]["jax"]
    assert worker.startup_s > 0
    prepared = worker.ask("prepare", 60, handle="h", problem=problem)
    assert prepared["phases"]["compile_s"] > 0
    assert set(prepared["input_sha256"]) == {"x", "y"}
    loss = worker.ask("evaluate", 60, handle="h", output=str(tmp_path / "g.h5"))["loss"]
    moved = worker.ask(
        "losses", 60, handle="h", direction={"entry": ["x", [1, 2]]}, steps=[0.0, 0.5]
    )["losses"]
    assert moved[0] == loss
    assert moved[1] != loss
    assert worker.ask("sample", 60, handle="h", what="gradient", calls=3)["seconds"] > 0
    worker.ask("release", 60, handle="h")
    with pytest.raises(WorkerError, match="KeyError") as caught:
        worker.ask("evaluate", 60, handle="h", output=str(tmp_path / "g.h5"))
    assert caught.value.outcome is Outcome.RUNTIME_ERROR
    assert worker.stop() == 0


def test_a_killed_worker_is_crashed_with_its_signal(started):
    worker, _, problem = started()
    os.kill(worker.process.pid, signal.SIGKILL)
    with pytest.raises(WorkerError) as caught:
        worker.ask("prepare", 60, handle="h", problem=problem)
    assert caught.value.outcome is Outcome.CRASHED
    assert "signal 9" in caught.value.message
    assert caught.value.exit_status == -9
    assert not worker.alive


def test_a_worker_that_hangs_is_a_timeout_and_is_ended(started):
    hang = MODEL + "\nimport time\ndef loss(x, y, K):\n    time.sleep(1e6)\n"
    worker, _, problem = started(hang)
    with pytest.raises(WorkerError) as caught:
        worker.ask("prepare", 1.0, handle="h", problem=problem)
    assert caught.value.outcome is Outcome.TIMEOUT
    assert not worker.alive


def test_what_a_model_prints_cannot_break_the_protocol(started, tmp_path):
    chatty = (
        MODEL
        + "\nimport os\nprint('{\"ok\": {}}')\nos.write(1, b'noise\\n')\nos.write(2, b'more\\n')\n"
    )
    worker, _, problem = started(chatty)
    assert "compile_s" in worker.ask("prepare", 60, handle="h", problem=problem)["phases"]
    worker.stop()
    assert "noise" in (tmp_path / "log").read_text()


def test_what_a_model_started_ends_with_it(started, tmp_path):
    spawn = MODEL + (
        "\nimport subprocess\np = subprocess.Popen(['sleep', '1000'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid))\n"
    )
    worker, _, problem = started(spawn)
    worker.ask("prepare", 60, handle="h", problem=problem)
    child = int((tmp_path / "pid").read_text())
    os.kill(child, 0)  # it lives
    worker.kill()
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if _zombie(child):
            return
        time.sleep(0.05)
    pytest.fail("the child outlived its worker")


def _zombie(pid):
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
        return status.rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_model_that_raises_names_the_users_own_line(started):
    worker, _, problem = started(MODEL + "\ndef loss(x, y, K):\n    return x.nonsense\n")
    with pytest.raises(WorkerError, match=r"model\.py") as caught:
        worker.ask("prepare", 60, handle="h", problem=problem)
    assert caught.value.outcome is Outcome.COMPILE_ERROR
    assert worker.alive


def test_a_missing_function_is_named(started):
    worker, _, problem = started()
    variant = replace(catalogue.load(problem["folder"]).variant("good"), loss="nowhere")
    problem = {**problem, "variant": {**problem["variant"], "loss": variant.loss}}
    with pytest.raises(WorkerError, match="nowhere"):
        worker.ask("prepare", 60, handle="h", problem=problem)
