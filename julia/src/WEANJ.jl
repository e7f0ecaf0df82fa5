"""
    WEANJ

The Julia half of pyweanj: the shared inputs and results of its examples, gradients by
Enzyme with the bookkeeping of shadows done, and the checks and clocks that both languages
share.  Works without Python.

The names are those of the notebooks that the project starts from: [`ensure_inputs`](@ref),
[`load_inputs`](@ref), [`inputs`](@ref), [`fd_check`](@ref), [`time_median`](@ref),
[`save_gradient`](@ref), [`write_results`](@ref).  Beside them stand [`normals`](@ref),
[`read_arrays`](@ref), [`write_arrays`](@ref), [`array_sha256`](@ref) and
[`with_large_stack`](@ref).

[`WEANJ.gradient`](@ref), [`WEANJ.value_and_gradient`](@ref) and [`WEANJ.jvp`](@ref) are
not exported: Enzyme exports a `gradient` of its own.  The example's losses are in
[`WEANJ.GaussSeidel`](@ref).
"""
module WEANJ

using Enzyme: Enzyme, Active, Const, Duplicated, Forward, ReverseWithPrimal
using HDF5: HDF5
using Random: Random, Xoshiro
using SHA: sha256
using Statistics: median

export InputsError,
    array_sha256,
    ensure_inputs,
    fd_check,
    inputs,
    load_inputs,
    normals,
    read_arrays,
    save_gradient,
    time_median,
    with_large_stack,
    write_arrays,
    write_results

include("layout.jl")
include("inputs.jl")
include("results.jl")
include("checks.jl")
include("tasks.jl")
include("gradients.jl")
include("devices.jl")
include("GaussSeidel.jl")
include("Worker.jl")
include("precompile.jl")

end
