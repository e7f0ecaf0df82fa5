"""The scripts of benchmarks/, imported as they import each other."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


def script(name):
    @pytest.fixture(scope="session", name=name)
    def imported():
        sys.path.insert(0, str(FOLDER))
        try:
            yield importlib.import_module(name)
        finally:
            sys.path.remove(str(FOLDER))

    return imported


rows, ratios, gpu = map(script, ("rows", "ratios", "gpu"))
