"""Versions and machine, stored with every run."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "describe", "nvidia_driver", "package_versions"]

#: The packages whose version could change a result, in the order in which they are shown.
PACKAGES = (
    "pyweanj",
    "jax",
    "jaxlib",
    "enzyme-ad",
    "juliacall",
    "juliapkg",
    "numpy",
    "scipy",
    "h5py",
)


def package_versions() -> dict[str, str | None]:
    """The installed version of each of `PACKAGES`; None where it is not installed."""
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def nvidia_driver() -> str | None:
    """Version of the NVIDIA driver as the kernel tells it, or None where there is none."""
    file = Path("/proc/driver/nvidia/version")
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"\d+\.\d+(\.\d+)?", text)
    return found.group() if found else "unknown version"


def describe() -> dict[str, Any]:
    """Plain data about this machine and these versions, at this moment (UTC)."""
    from pyweanj.measure import machine

    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "byteorder": sys.byteorder,
        "packages": package_versions(),
        "machine": machine.describe(),
    }
