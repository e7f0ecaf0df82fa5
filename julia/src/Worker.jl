"""
    WEANJ.Worker

One problem inside pyweanj's worker process: prepared once, then asked for losses, gradients,
derivatives, seconds and bytes.  Only names, numbers and paths cross to Python.
"""
module Worker

using Enzyme: Enzyme, Active, Const, Reverse
using LinearAlgebra: BLAS
using SHA: sha256
using ..WEANJ:
    WEANJ,
    Constant,
    Derivable,
    Differentiated,
    InputsError,
    array_sha256,
    with_large_stack

include("worker/errors.jl")
include("worker/models.jl")
include("worker/implementations.jl")
include("worker/arguments.jl")
include("worker/evaluation.jl")
include("worker/directions.jl")
include("worker/measurement.jl")
include("worker/environment.jl")

end
