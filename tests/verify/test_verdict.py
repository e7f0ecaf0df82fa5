import pytest

from pyweanj.records import Figure
from pyweanj.verify import Comparison, decide, decide_pair
from pyweanj.verify.proofs import Proof, kind_of

OK, BAD = Comparison("ok"), Comparison("mismatch", "gradient")


def figures(**passed):
    return [
        Figure(name=Proof[name], value=None if name != "ZERO" else 1.0, passed=value)
        for name, value in passed.items()
    ]


CASES = [
    ({}, "unproven"),
    ({"LIKE": True, "FINITE": True, "REPEATABLE": True, "ZERO": True}, "unproven"),
    ({"ORACLE": True}, "right"),
    ({"ENTRIES": True}, "right"),
    ({"ENTRIES": None, "DIRECTIONS": None, "TAYLOR": None}, "unproven"),
    ({"ENTRIES": None, "DIRECTIONS": True}, "right"),
    ({"ORACLE": False, "ENTRIES": True}, "wrong"),
    ({"ORACLE": True, "ENTRIES": False}, "wrong"),
    ({"ORACLE": True, "TAYLOR": False}, "wrong"),
    ({"ORACLE": True, "REPEATABLE": False}, "wrong"),
    ({"ORACLE": True, "UNCHANGED": False}, "wrong"),
    ({"ORACLE": True, "LIKE": False}, "wrong"),
    ({"ORACLE": True, "FINITE": False}, "wrong"),
    ({"ORACLE": True, "ZERO": False}, "wrong"),
    ({"ENTRIES": True, "ZERO": None}, "unproven"),
    # Another one disagrees: who is wrong depends on what looked at the difference itself.
    ({"ENTRIES": True, "AGREEMENT": False}, "unproven"),
    ({"ENTRIES": True, "ACROSS": False}, "unproven"),
    ({"ENTRIES": True, "ADJOINT": False}, "unproven"),
    ({"ENTRIES": True, "DEVICES": False}, "unproven"),
    ({"ORACLE": True, "AGREEMENT": False, "ACROSS": False, "DEVICES": False}, "right"),
    ({"ENTRIES": True, "SEPARATING": True, "AGREEMENT": False}, "right"),
    ({"ENTRIES": True, "SEPARATING": False, "AGREEMENT": False}, "wrong"),
    ({"ENTRIES": True, "SEPARATING": None, "AGREEMENT": False}, "unproven"),
    ({"ADJOINT": True}, "right"),
    ({"AGREEMENT": True}, "unproven"),
    ({"DEVICES": True}, "unproven"),
]


@pytest.mark.parametrize(("passed", "word"), CASES)
def test_decide(passed, word):
    found = decide(figures(**passed))
    assert found.word == word
    assert found.text
    if word == "wrong":
        assert all(figure.passed is False for figure in found.deciding)
    if word == "right":
        assert all(figure.passed is True for figure in found.deciding)


def test_a_whole_gradient_of_zero_that_is_proved_is_right():
    zero = Figure(name=Proof.ZERO, value=0.0, passed=True)
    assert decide([zero]).word == "right"


def test_conventions_do_not_count_against_it():
    shown = figures(ENTRIES=True, ORACLE=False, AGREEMENT=False, SEPARATING=False)
    assert decide(shown).word == "wrong"
    found = decide(shown, "the complex conjugate")
    assert found.word == "right"
    assert "conjugate" in found.text
    # An entry that fits no slope is no convention.
    assert decide(figures(ENTRIES=False, ORACLE=False), "a kink").word == "wrong"
    assert decide(figures(ORACLE=True, FINITE=False), "a kink").word == "wrong"


@pytest.mark.parametrize(
    ("left", "right", "comparison", "wrong"),
    [
        ("right", "right", OK, "neither"),
        ("right", "unproven", OK, "neither"),
        ("wrong", "wrong", OK, "both"),
        ("wrong", "right", OK, "left"),
        ("right", "wrong", OK, "right"),
        ("wrong", "wrong", BAD, "both"),
        ("wrong", "right", BAD, "left"),
        ("unproven", "wrong", BAD, "right"),
        ("right", "right", BAD, "unknown"),
        ("unproven", "unproven", BAD, "unknown"),
        ("right", "right", Comparison("mismatch", "loss"), "unknown"),
    ],
)
def test_decide_pair(left, right, comparison, wrong):
    found = decide_pair(left, right, comparison)
    assert found.wrong == wrong
    assert found.text
    if "wrong" not in (left, right):
        assert decide_pair(left, right, comparison, "a kink").wrong == "neither"


def test_names_may_go_on_after_a_colon():
    assert kind_of("adjoint identity across: jax/a/cpu") is Proof.ACROSS
    with pytest.raises(ValueError, match="horoscope"):
        kind_of("horoscope")
