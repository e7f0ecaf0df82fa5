"""The same loss and gradient in every language: run it with pytest."""

from pathlib import Path

import pytest

from pyweanj.testing import assert_equivalent


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_languages_agree(dtype):
    assert_equivalent(Path(__file__).parent, dtypes=dtype)
