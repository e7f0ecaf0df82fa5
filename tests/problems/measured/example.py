"""Arrays from an HDF5 file that another program wrote, two systems, no oracle, nothing timed."""

from pathlib import Path

from pyweanj import Example, Size, Variant

HERE = Path(__file__).parent

example = Example(
    name="measured",
    title="measured data",
    folder=HERE,
    data=HERE / "measured.h5",
    variants=(Variant("plain", loss="loss", systems=("jax", "enzyme")),),
    arguments=("p", "t", "y", "good"),
    differentiate=("p",),
    depth=lambda size: 100.0,
    check=Size(12),
    tolerance={"float32": 1e-3},
)
