"""A run on disk: ``results/<example>/<UTC time>/``, appended to while the run goes on.

``run.json`` (example, options, plan) is written first, ``records.jsonl`` and
``pairs.jsonl`` grow as groups of cases end and are flushed to the disk each time, and the
joint table is written last, under a temporary name until it is complete.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from pyweanj.disk import writing
from pyweanj.errors import UsageError
from pyweanj.records import SCHEMA_VERSION, Case, Joint, Pair, Record

__all__ = ["Run", "new_run", "read_joint", "write_results"]


Row = TypeVar("Row", Record, Pair)


class Run:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def pairs_file(self) -> Path:
        """One JSON object a line, as `records_file`."""
        return self.folder / "pairs.jsonl"

    @property
    def records_file(self) -> Path:
        """One JSON object a line, in the order in which the cases ended."""
        return self.folder / "records.jsonl"

    def log(self, system: str, device: str) -> Path:
        """The output of a worker."""
        return self.folder / "logs" / f"{system}-{device}.log"

    def gradient(self, case: Case) -> Path:
        """Where the gradient of a case is kept, in the layout of the inputs."""
        return self.folder / "gradients" / f"{case.slug}.h5"

    def inputs(self, n: int, dtype: str) -> Path:
        """The inputs of one size and dtype."""
        return self.folder / "inputs" / f"n{n}_{dtype}.h5"

    def relative(self, path: Path) -> str:
        """`path` as it is written in a record."""
        return path.relative_to(self.folder).as_posix()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else writes into the folder meanwhile.

        Raises
        ------
        UsageError
            Another process does.  The system forgets the claim of one that died.
        """
        try:
            import fcntl
        except ImportError:  # a system without it
            yield
            return
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UsageError(
                    f"another run is writing into {self.folder}; give another --output folder, "
                    "or wait until it has ended"
                ) from error
            except OSError:
                pass  # a file system without locks
            yield
        finally:
            os.close(handle)

    def begin(self, about: dict[str, Any]) -> None:
        """Write ``run.json``: what was asked for, so that the run can be taken up again."""
        about = {"schema_version": SCHEMA_VERSION, **about}
        self.write("run.json", json.dumps(about, indent=1, ensure_ascii=False) + "\n")

    def append(self, rows: Iterable[Record | Pair]) -> None:
        """Add the rows of one group of cases; they are on the disk when this returns.

        Pairs go first: where all records of a group are found, so are its pairs.
        """
        rows = list(rows)
        for kind, file in ((Pair, self.pairs_file), (Record, self.records_file)):
            lines = [
                row.model_dump_json().encode() + b"\n" for row in rows if isinstance(row, kind)
            ]
            if lines:
                _append(file, b"".join(lines))

    def records(self) -> list[Record]:
        """The records so far, the last one of each case; a half-written line is passed over."""
        return list({record.case: record for record in _rows(self.records_file, Record)}.values())

    def pairs(self) -> list[Pair]:
        """The pairs so far, the last one of each two cases."""
        found = {
            (p.computes, p.dtype, p.n, p.K, p.left, p.right): p
            for p in _rows(self.pairs_file, Pair)
        }
        return list(found.values())

    def about(self) -> dict[str, Any]:
        """What `begin` wrote; raises UsageError where the folder holds no run."""
        file = self.folder / "run.json"
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}; give the folder of a run") from error
        except ValueError as error:
            raise UsageError(f"{file}: not JSON ({error})") from error
        if not isinstance(data, dict) or not {"schema_version", "example", "options"} <= set(data):
            raise UsageError(f"{file}: not what a run writes there; give the folder of a run")
        if data["schema_version"] != SCHEMA_VERSION:
            raise UsageError(
                f"{file}: schema version {data['schema_version']}, but this pyweanj writes "
                f"{SCHEMA_VERSION}; finish it with the version that began it"
            )
        return data

    def write(self, name: str, text: str) -> Path:
        """Write a whole file, complete or not at all."""
        path = self.folder / name
        temporary = path.with_name(f".{name}.part")
        try:
            with writing(path):
                temporary.write_text(text, encoding="utf-8")
                temporary.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        return path

    def finish(self, joint: Joint) -> None:
        """Write ``joint.json``, and point ``latest`` here."""
        self.write("joint.json", joint.model_dump_json(indent=1) + "\n")
        latest = self.folder.parent / "latest"
        with contextlib.suppress(OSError):
            # A plain file called latest is the user's; leave it.
            if latest.is_symlink() or not latest.exists():
                temporary = latest.with_name(f".latest.{os.getpid()}")
                temporary.symlink_to(self.folder.name)
                temporary.replace(latest)


def new_run(example: str, output: Path | None = None) -> Run:
    """Make the folder of a new run: `output`, or one under ``results/`` of the current folder.

    Raises
    ------
    UsageError
        The folder cannot be made, or `output` already holds a run.
    """
    root = output or Path("results") / example
    try:
        if output is not None:
            if any((output / name).exists() for name in ("run.json", "records.jsonl")):
                raise UsageError(f"{output} already holds a run; give another --output folder")
            output.mkdir(parents=True, exist_ok=True)
            return Run(output.resolve())
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        for suffix in ("", *(f"-{k}" for k in range(2, 1000))):
            folder = root / (stamp + suffix)
            with contextlib.suppress(FileExistsError):
                folder.mkdir(parents=True)
                return Run(folder.resolve())
    except OSError as error:
        raise UsageError(
            f"cannot write results to {root}: {error.strerror}; give a folder with --output"
        ) from error
    raise UsageError(f"{root} holds a thousand runs of this second; give a folder with --output")


def read_joint(path: Path) -> Joint:
    """The joint table of a run's folder, or of a ``joint.json``.

    Raises
    ------
    UsageError
        There is none, it is damaged, or another schema version wrote it.
    """
    file = path / "joint.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; give the folder of a finished run") from error
    try:
        data = json.loads(text)
        version = data.get("schema_version") if isinstance(data, dict) else None
    except ValueError as error:
        raise UsageError(f"{file}: not JSON ({error})") from error
    if version != SCHEMA_VERSION:
        raise UsageError(
            f"{file}: schema version {version}, but this pyweanj reads {SCHEMA_VERSION}; "
            "use the version that wrote it"
        )
    try:
        return Joint.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{file}: {where}: {first['msg']}") from error


def write_results(
    example: str,
    system: str,
    device: str,
    records: list[dict[str, Any]],
    folder: Path | None = None,
) -> Path:
    """Write one system's timing records on one device, as the notebooks do; returns the file.

    Parameters
    ----------
    records
        Dictionaries with the keys ``dtype``, ``variant``, ``N``, ``n``, ``K``, ``forward_s``,
        ``grad_s``, ``compile_s``, ``peak_mem_bytes``; None where something was not measured.
    folder
        Default: ``results/<example>`` in the current folder.
    """
    root = folder or Path("results") / example
    root.mkdir(parents=True, exist_ok=True)
    about = {"example": example, "system": system, "device": device, "records": records}
    return Run(root).write(f"{system}-{device}.json", json.dumps(about, indent=1) + "\n")


def _append(path: Path, lines: bytes) -> None:
    with writing(path), path.open("ab+") as file:
        # A line cut short by a kill or a full disk must not swallow the next one.
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                lines = b"\n" + lines
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def _rows(path: Path, model: type[Row]) -> Iterator[Row]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            with contextlib.suppress(ValidationError):
                yield model.model_validate_json(line)
