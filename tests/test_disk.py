"""A disk that fills up: the file's name, one line, and nothing half-written left behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from pyweanj.disk import writing
from pyweanj.inputs import write_arrays
from pyweanj.store import Run
from tests.helpers import EXAMPLE, command, one_line, write_example


@pytest.fixture
def small(tmp_path):
    """A file system of 1 MiB, and a function that leaves so many bytes free in it."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if (
        sys.platform != "linux"
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("a small file system can be mounted by root on Linux alone")

    def leave(free):
        usage = os.statvfs(folder)
        (folder / "filler").write_bytes(bytes(usage.f_bavail * usage.f_frsize - free))
        return folder

    yield leave
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("free", [0, 4096, 20480, 61440])
def test_arrays_on_a_full_disk(small, free):
    path = small(free) / "arrays.h5"
    with pytest.raises(OSError, match="No space left") as found:
        write_arrays(path, {"x": np.zeros((100, 100))})
    assert (found.value.errno, found.value.filename) == (errno.ENOSPC, str(path))
    assert sorted(p.name for p in path.parent.iterdir()) == ["filler"]


def test_records_on_a_full_disk(small):
    folder = small(4096)
    run = Run(folder)
    with pytest.raises(OSError, match="No space left") as found:
        run.write("joint.json", "x" * 100_000)
    assert found.value.filename == str(folder / "joint.json")
    assert sorted(p.name for p in folder.iterdir()) == ["filler"]


@pytest.mark.parametrize("free", [0, 20480, 300_000])
def test_a_run_on_a_full_disk_says_so_in_one_line(small, free, tmp_path):
    write_example(tmp_path / "large", example=EXAMPLE.replace("Size(5, 3)", "Size(200, 3)"))
    run = small(free) / "run"
    done = command("compare", "large", "--no-timing", "-o", run, cwd=tmp_path)
    assert done.returncode in (1, 2)
    said = done.stderr.splitlines()[-1] if done.returncode == 2 else done.stdout
    assert "No space left on device" in said
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_a_skeleton_on_a_full_disk_can_be_tried_again(small):
    folder = small(4096)
    done = command("new", "mine", cwd=folder)
    assert done.returncode == 2
    assert "No space left on device" in one_line(done.stderr)
    (folder / "filler").unlink()
    assert command("new", "mine", cwd=folder).returncode == 0


def test_what_hdf5_says_is_told_with_the_file(tmp_path):
    path = tmp_path / "a.h5"
    with pytest.raises(OSError, match="No space left") as found, writing(path):
        raise OSError(f"Can't write (errno = {errno.ENOSPC}, error message = '…', buf = 0x1)")
    assert found.value.filename == str(path)
    with pytest.raises(OSError, match="ref count"), writing(path):
        raise RuntimeError("Can't decrement id ref count\nmore")


def test_negative_control_other_errors_pass_through(tmp_path):
    with pytest.raises(ValueError, match="mine"), writing(tmp_path / "a"):
        raise ValueError("mine")
    with pytest.raises(FileNotFoundError), writing(tmp_path / "a"):
        (tmp_path / "nowhere").read_text()
