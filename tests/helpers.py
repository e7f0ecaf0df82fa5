"""What several test modules share: running the command for real, and small example folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

EXAMPLE = """
from pathlib import Path
import numpy as np
from pyweanj import Example, Size, Variant, normals

def oracle(computes, arrays, K):
    x, y = arrays["x"], arrays["y"]
    r = K * x - y
    return float(np.sum(r**2)), {"x": 2 * K * r}

example = Example(
    name="scaled",
    title="misfit of a scaled matrix",
    folder=Path(__file__).parent,
    variants=(Variant("good", loss="loss", systems=("jax", "oracle")),
              Variant("other", loss="other_loss", systems=("jax", "oracle"), computes="good")),
    arguments=("x", "y", "K"),
    differentiate=("x",),
    shapes=lambda size: {"x": (size.n, size.n + 3), "y": (size.n, size.n + 3)},
    make_inputs=lambda size, seed: {
        "x": normals(seed, 0, (size.n, size.n + 3)), "y": normals(seed, 1, (size.n, size.n + 3))},
    generator="normals",
    depth=lambda size: 4.0,
    check=Size(5, 3),
    timing=(Size(8, 3),),
    oracle=oracle,
    quadratic=True,
)
"""

MODEL = """
import jax.numpy as jnp

def loss(x, y, K):
    return jnp.sum((K * x - y) ** 2)

other_loss = loss
"""


def write_example(folder: Path, model: str = MODEL, example: str = EXAMPLE) -> Path:
    """An example folder with a 5 × 8 quadratic misfit; `model` replaces its model.py."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "example.py").write_text(textwrap.dedent(example))
    (folder / "model.py").write_text(textwrap.dedent(model))
    return folder


def command(
    *arguments: str | Path,
    cwd: Path,
    env: dict[str, str | None] | None = None,
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m pyweanj`` in `cwd`; `env` changes the environment (None: unset)."""
    return subprocess.run(
        [sys.executable, "-m", "pyweanj", *map(str, arguments)],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def environment(changes: dict[str, str | None] | None = None) -> dict[str, str]:
    """The tests' environment with `changes`."""
    result = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    for name, value in (changes or {}).items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def compare_json(
    *arguments: str | Path, cwd: Path, **options: Any
) -> tuple[int, dict[str, Any], str]:
    """Exit status, joint table and stderr of ``compare … --format json``."""
    done = command("compare", *arguments, "--format", "json", cwd=cwd, **options)
    assert done.stdout, f"no output, exit status {done.returncode}: {done.stderr}"
    return done.returncode, json.loads(done.stdout), done.stderr


def rows(joint: dict[str, Any], **wanted: Any) -> list[dict[str, Any]]:
    """The records whose fields equal `wanted`."""
    return [r for r in joint["records"] if all(r[k] == v for k, v in wanted.items())]


def one_line(stderr: str) -> str:
    """`stderr`, which must be one line that starts with the program's name."""
    lines = stderr.strip().splitlines()
    assert len(lines) == 1, stderr
    assert lines[0].startswith("pyweanj: "), stderr
    return lines[0]
