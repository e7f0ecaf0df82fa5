"""The usual mend of an error in a user's model, by what the error says."""

from __future__ import annotations

import re

__all__ = ["mend"]

ARGUMENTS = "give it the arguments of example.py, in their order"

#: The first pattern that is found in the message counts.
MENDS: tuple[tuple[str, str], ...] = (
    # Any language.
    (
        r"has no model\.\w+",
        "write that file, or leave the system out of the variant's systems= in example.py",
    ),
    (r"has no function", "give the function that name, or change the name in example.py"),
    (r"is called with \(", ARGUMENTS),
    (r"a loss is one real number", "return one number: the sum of squares, a norm, a mean"),
    (r"the loss writes into", "let the loss work on a copy: x = copy(x)"),
    # JAX.
    (
        r"TracerBoolConversionError",
        "choose with jnp.where or jax.lax.cond: values are not known while JAX traces "
        "(K, a plain int, is)",
    ),
    (
        r"TracerIntegerConversionError|ConcretizationTypeError|NonConcreteBooleanIndexError",
        "shapes, loop counts and list indices must be known while JAX traces: take them from "
        "x.shape or K, or use jax.lax and jnp.where",
    ),
    (r"TracerArrayConversionError", "use jax.numpy instead of numpy inside the loss"),
    (r"UnexpectedTracerError", "return what the loss computes; keep nothing in a global"),
    (r"JAX arrays are immutable", "make a new array: x = x.at[i].set(value)"),
    (
        r"Reverse-mode differentiation does not work for",
        "loop with jax.lax.scan, or jax.lax.fori_loop with a bound that is a plain int",
    ),
    (r"grad requires real- or complex-valued inputs", "differentiate floating-point arrays only"),
    (r"the gradient has shapes", "return one array for each of differentiate, in its shape"),
    # Julia.
    (
        r"EnzymeRuntimeActivityError|[Cc]onstant memory is stored",
        "a branch, a closure or a generator mixes constant and differentiated arrays: write a "
        "plain loop, make buffers with similar(x), or copy the constant",
    ),
    (
        r"EnzymeMutabilityException|cannot be proven readonly",
        "let the loss be a plain function at the top level of model.jl: no closure over data "
        "that is written",
    ),
    (
        r"EnzymeNoTypeError|IllegalTypeAnalysis|EnzymeNoShadowError|EnzymeInternalError",
        "keep the types concrete: no untyped globals, no containers of mixed types",
    ),
    (
        r"EnzymeNoDerivativeError|EnzymeNonScalarReturn",
        "Enzyme has no rule for what is called there: write it as loops, or give a gradient "
        "function of your own in the variant's gradients=",
    ),
    (r"gives a? ?\S+ for|gives size|gives \d+ gradients", "return one array for each of "
     "differentiate, in its shape"),
    (r"BoundsError", "Julia counts from 1, and the arrays have the shapes of example.py"),
    (r"UndefVarError", "define it in model.jl, or load the package that has it"),
    (r"MethodError", "look at the types in the message: an integer or boolean array is one here"),
    # C++.
    (r"file not found", "do without system headers: __builtin_sin, __builtin_malloc, …"),
    (r"complex arrays", "compare without enzyme-cpp: name the others in the variant's systems="),
    (r"read-only|const-qualified|discards qualifiers", "inputs are const: work on a local copy"),
)  # fmt: skip


def mend(message: str) -> str:
    """What usually mends the error that says `message`; empty where nothing is known."""
    return next((advice for pattern, advice in MENDS if re.search(pattern, message)), "")
