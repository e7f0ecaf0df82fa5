"""Where the files that belong to pyweanj lie, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["data_folder", "julia_folder"]

PACKAGE = Path(__file__).resolve().parent


def _shipped(name: str) -> Path:
    """`name` of the repository root: inside the package in a wheel, beside it otherwise."""
    inside = PACKAGE / f"_{name}"
    return inside if inside.is_dir() else PACKAGE.parent / name


def julia_folder() -> Path:
    """The Julia package WEANJ."""
    return _shipped("julia")


def data_folder() -> Path:
    """The committed inputs and published figures, one folder an example."""
    return _shipped("data")
