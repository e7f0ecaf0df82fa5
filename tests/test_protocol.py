"""Messages survive the pipe, numbers that JSON lacks included."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pyweanj import protocol
from pyweanj.example import Problem, Size, Variant


@pytest.mark.parametrize("value", [0.1, 1e-320, math.inf, -math.inf, 3, "text", None, [1, [2.5]]])
def test_a_message_comes_back(value):
    line = protocol.encode({"do": "x", "value": value, "nested": {"v": [value]}})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert protocol.decode(line) == {"do": "x", "value": value, "nested": {"v": [value]}}


def test_nan_comes_back_as_nan():
    assert math.isnan(protocol.decode(protocol.encode({"loss": math.nan}))["loss"])


def test_a_line_break_in_a_text_stays_inside_the_line():
    assert protocol.encode({"message": "a\nb"}).count(b"\n") == 1


def test_what_is_no_message_is_refused():
    with pytest.raises(ValueError, match="not a message"):
        protocol.decode(b"[1]\n")


def test_a_problem_comes_back():
    problem = Problem(
        folder=Path("/some/where"),
        variant=Variant("v", "loss", ("jax",), {"jax": "grad"}, "w"),
        arguments=("a", "K"),
        differentiate=("a",),
        size=Size(3, 4),
        dtype="float32",
        inputs=Path("/in.h5"),
    )
    assert protocol.problem_from_json(protocol.problem_to_json(problem, "name")) == problem
