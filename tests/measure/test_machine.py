import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pyweanj.measure import machine


@pytest.fixture
def cores():
    allowed = machine.affinity()
    if allowed is None:
        pytest.skip("this system does not bind processes to cores")
    yield allowed
    machine.pin(allowed)


def test_pin_is_read_back(cores):
    assert machine.pin([cores[-1]]) == [cores[-1]]
    assert machine.affinity() == [cores[-1]]


def test_pinning_is_inherited_by_a_new_process(cores):
    machine.pin([cores[0]])
    code = "from pyweanj.measure import machine; print(machine.affinity())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) == [cores[0]]


@pytest.mark.parametrize("bad", [[], [100_000], [-1]])
def test_cores_that_do_not_exist(cores, bad):
    with pytest.raises(ValueError, match="cannot pin to cores"):
        machine.pin(bad)
    assert machine.affinity() == cores


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("threads", [0, 4097])
def test_more_threads_than_cores(threads):
    with pytest.raises(ValueError, match="choose --threads between 1 and"):
        machine.choose_cores(threads)


def test_chosen_cores_are_allowed(cores):
    for threads in range(1, len(cores) + 1):
        chosen = machine.choose_cores(threads)
        assert chosen is not None
        assert len(set(chosen)) == threads
        assert set(chosen) <= set(cores)


def _topology(folder, siblings, isolated=""):
    (folder / "isolated").write_text(isolated + "\n")
    for group in siblings:
        for core in group:
            path = folder / f"cpu{core}/topology"
            path.mkdir(parents=True)
            (path / "thread_siblings_list").write_text(",".join(map(str, group)) + "\n")


@pytest.mark.parametrize(
    ("topology", "busy", "threads", "chosen"),
    [
        (([[0], [1], [2], [3]], ""), {}, 1, [3]),
        (([[0], [1], [2], [3]], ""), {}, 2, [2, 3]),
        (([[0, 2], [1, 3]], ""), {}, 2, [2, 3]),
        (([[0, 1], [2, 3]], ""), {}, 2, [1, 3]),
        (([[0, 1], [2, 3]], ""), {}, 3, [1, 2, 3]),
        (([[0], [1], [2], [3]], ""), {3: 0.9}, 1, [2]),
        (([[0], [1], [2], [3]], ""), {3: 0.05}, 1, [3]),
        (([[0], [1], [2], [3]], "1"), {}, 1, [1]),
        (([[0], [1], [2], [3]], "0-1"), {}, 3, [0, 1, 3]),
        (([[0], [1], [2], [3]], ""), dict.fromkeys(range(4), 1.0), 4, [0, 1, 2, 3]),
    ],
)
def test_which_cores_are_chosen(topology, busy, threads, chosen):
    siblings, isolated = topology
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "affinity", lambda: [0, 1, 2, 3])
        folder = Path(name)
        _topology(folder, siblings, isolated)
        assert machine.choose_cores(threads, busy, folder) == chosen


def test_system_without_affinity(monkeypatch):
    monkeypatch.setattr(machine, "affinity", lambda: None)
    assert machine.choose_cores(8) is None
    assert machine.affinity_warnings(None, {"jax": [0]}) == []


def test_worker_on_other_cores_is_flagged():
    reported = {"jax": [1], "enzyme": [0], "oracle": [0, 1], "enzyme-cpp": None}
    found = machine.affinity_warnings([1], reported)
    assert len(found) == 2
    assert found[0].startswith("enzyme runs on core 0 instead of core 1")
    assert found[1].startswith("oracle runs on cores 0, 1 instead of core 1")
    assert machine.affinity_warnings([0, 1], {"oracle": [1, 0]}) == []


@pytest.mark.parametrize(
    ("text", "cores"),
    [("", set()), ("\n", set()), ("3", {3}), ("0-2,5\n", {0, 1, 2, 5}), ("0,2,4", {0, 2, 4})],
)
def test_lists_of_cores(text, cores):
    assert machine.parse_cores(text) == cores


@pytest.mark.parametrize(
    ("files", "governor", "turbo"),
    [
        ({}, None, None),
        (
            {"intel_pstate/no_turbo": "0", "cpu0/cpufreq/scaling_governor": "powersave"},
            "powersave",
            True,
        ),
        ({"intel_pstate/no_turbo": "1"}, None, False),
        ({"cpufreq/boost": "1"}, None, True),
        ({"cpufreq/boost": "0"}, None, False),
    ],
)
def test_frequency_settings(tmp_path, files, governor, turbo):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert machine.governor(tmp_path) == governor
    assert machine.turbo(tmp_path) == turbo


def test_description_is_plain_data_that_can_be_published():
    import getpass
    import socket

    found = machine.describe()
    text = json.dumps(found, allow_nan=False)
    assert found["cores"] >= 1
    assert found["memory_bytes"] > 2**28
    assert 0 < found["clock_resolution_s"] < 1e-3
    assert socket.gethostname() not in text.split('"')
    assert getpass.getuser() not in text.split('"')
