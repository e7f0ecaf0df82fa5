"""What usually causes each kind of fault, in each language."""

from __future__ import annotations

__all__ = ["CAUSES", "cause_of"]

#: kind → system (or "any") → cause.
CAUSES: dict[str, dict[str, str]] = {
    "shape": {
        "any": "a halo left on, a flattened result, or an axis of length 1 too many or too few",
        "enzyme": "dimensions reversed between HDF5.jl and h5py, or a shadow of the haloed array",
    },
    "not finite": {
        "any": "a division by zero, log or sqrt at 0, or overflow, perhaps only in the adjoint",
        "jax": "jnp.where with a NaN in the branch not taken: its gradient is NaN all the same",
        "enzyme": "memory from similar(…) or a shadow that was never filled",
        "enzyme-cpp": "memory that was never written",
    },
    "zero": {
        "any": "the loss does not depend on the argument as the system sees it",
        "jax": "stop_gradient, a cast to integer, or a comparison in place of the value",
        "enzyme": "a scratch buffer passed as Const instead of Duplicated, or set_runtime_activity",
        "enzyme-cpp": "a scratch buffer declared as an output, or not active (const)",
    },
    "axes": {
        "any": "row-major and column-major order mixed up, perhaps of inputs and gradient alike",
        "jax": "an array from Julia used without permuting its axes",
        "enzyme": "HDF5.jl sees h5py's axes reversed: permutedims at reading and at writing",
        "enzyme-cpp": "an index i + n·j where j + n·i is meant",
    },
    "factor": {
        "any": "a constant that the loss has and the gradient has not, or the other way round",
        "jax": "a mean in place of a sum, or a loss scaled inside and not outside",
        "enzyme": "a shadow that is not zeroed accumulates; a seed other than 1",
        "enzyme-cpp": "a shadow that is not zeroed accumulates; a seed other than 1",
    },
    "shift": {
        "any": "an index off by one, mostly 0-based against 1-based or with and without halo",
    },
    "part": {
        "any": "a loop or mask that leaves these entries out, or visits them twice",
        "jax": "a mask or an .at[…] slice that misses them",
        "enzyme": "an ndrange or a colour test that misses them; contributions lost to threads",
        "enzyme-cpp": "loop bounds that miss them",
    },
    "scattered": {
        "any": "contributions lost or doubled where work items or threads meet",
        "enzyme": "threads: atomic adds missing in the adjoint; use one thread to see",
    },
    "precision": {
        "any": "part of the computation ran in a lower precision than was declared",
        "jax": "x64 is off: float64 becomes float32 silently (JAX_ENABLE_X64 before the import); on"
        " a GPU TF32 (JAX_DEFAULT_MATMUL_PRECISION=highest)",
        "enzyme": "cu() makes Float32 (use CuArray), or a Float32 literal",
        "enzyme-cpp": "a float literal or variable in a double computation",
    },
    "order": {
        "any": "the points are updated in another order than the variant's name says",
        "jax": "a whole-array update is a Jacobi or red-black sweep, not a lexicographic one",
        "enzyme": "the colours start with the other one: 1-based i + j is even for red",
    },
    "sweeps": {
        "any": "one sweep too many or too few, or K of another run",
        "jax": "lax.scan or fori_loop with another length, or K compiled in as static",
    },
    "argument": {
        "any": "the gradient of another argument was returned",
        "jax": "argnums",
        "enzyme": "the shadow of another Duplicated argument",
        "enzyme-cpp": "the order of the arguments of the call",
    },
    "input": {
        "any": "a primal array was returned where its gradient was meant",
        "enzyme": "the primal of Duplicated(θ, dθ) instead of the shadow; a shadow made by copy(θ)"
        " instead of zero(θ)",
    },
    "offset": {"any": "a term of the loss that is linear in the argument is missing or added"},
    "absolute value": {"any": "abs or a norm without its sign in the adjoint"},
    "permuted": {"any": "entries are written to other places than they belong to"},
    "not repeatable": {
        "any": "a race, memory that was never written, or state kept between calls",
        "enzyme": "shadows that are not zeroed between calls, or threads",
        "jax": "more than one intra-op thread moves results by rounding only",
    },
    "reverse mode": {
        "any": "forward mode of the same code is right: its reverse mode is at fault",
        "enzyme": "a loop reads a location that a later iteration overwrites, and the value read"
        " multiplies an active one: a fault of Enzyme; read it through a @noinline function, use"
        " ReverseSplitWithPrimal, or two buffers",
        "enzyme-cpp": "a loop reads a location that a later iteration overwrites, and the value"
        " read multiplies an active one: a fault of Enzyme; use two buffers, or forward mode",
    },
    "conjugate": {
        "any": "a convention: for a real function of complex arguments Enzyme gives the direction"
        " of steepest ascent, JAX its conjugate",
    },
    "kink": {
        "any": "a convention: where the loss has a kink any slope between the one-sided ones is a"
        " subgradient; JAX gives 0.5 for max(x, 0) at 0",
    },
    "none": {"any": "no structure found: compare intermediate values of the two, sweep by sweep"},
}


def cause_of(kind: str, system: str = "") -> str:
    """The usual causes of a fault: the general one, and the named system's own."""
    causes = CAUSES[kind]
    own = causes.get(system)
    return f"{causes['any']}; in {system}: {own}" if own else causes["any"]
