import subprocess
import sys

import pyweanj.measure

HEAVY = ("jax", "jaxlib", "juliacall", "matplotlib", "scipy", "h5py", "psutil", "pandas")


def test_import_loads_nothing_heavier_than_numpy():
    code = (
        "import sys\n"
        "from pyweanj.measure import budget, clock, machine, memory, sampling, stability, "
        "statistics, sync\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "print('numpy' in sys.modules)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split("\n")[:2] == ["[]", "True"]


def test_public_names_exist():
    assert len(set(pyweanj.measure.__all__)) == len(pyweanj.measure.__all__)
    for name in pyweanj.measure.__all__:
        assert hasattr(pyweanj.measure, name)
