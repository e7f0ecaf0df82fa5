# What a process does first, done once while the package is precompiled.
#
# Gradients themselves cannot be kept in a package image: Enzyme's compiled code is known to
# Julia only by its address, and the address would be that of another process (a call of it is
# a segmentation fault), and code that Enzyme compiles while an image is being written must not
# run at all.  What can be kept is Enzyme's own machinery, which Julia otherwise compiles anew in
# every process and which is most of the time of a first gradient.  So the workload lets Enzyme
# compile, but not run, functions that nobody will ever call: copies of the example's.

using PrecompileTools: @compile_workload, @setup_workload

"Copies of the example's functions, of their own types, for the precompile workload alone."
module Workload

using ..WEANJ: WEANJ

include("GaussSeidel.jl")

# As GaussSeidel.gs_loss, but without an allocation, which Enzyme cannot compile into an image.
function lexicographic(u, θ, uobs, K)
    n = size(θ, 1)
    h2 = one(eltype(u)) / (n + 1)^2
    for _ in 1:K, j in 2:(n + 1), i in 2:(n + 1)
        source = h2 * θ[i - 1, j - 1]
        u[i, j] = (source + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    end
    return GaussSeidel.misfit(u, uobs)
end

end

# Methods of Enzyme's compiler that are called from LLVM alone: their arguments' types are all
# given, and Julia does not see the calls.
function precompile_compiler()
    for name in names(Enzyme.Compiler; all = true)
        isdefined(Enzyme.Compiler, name) || continue
        f = getfield(Enzyme.Compiler, name)
        f isa Function && parentmodule(f) === Enzyme.Compiler || continue
        for method in methods(f, Enzyme.Compiler)
            signature = method.sig
            signature isa DataType && all(isconcretetype, signature.parameters) || continue
            precompile(signature)
        end
    end
end

function compile_gradients(::Type{T}) where {T}
    matrix, constant = Duplicated{Matrix{T}}, Const{Matrix{T}}
    for (f, result, arguments) in (
            (Workload.lexicographic, Active{T}, (matrix, matrix, constant, Const{Int})),
            (
                Workload.GaussSeidel.rb_terms!,
                Const{Nothing},
                (matrix, matrix, matrix, constant, Const{Int}),
            ),
        )
        mode = Enzyme.ReverseSplitNoPrimal
        # Called so that inference does not follow: it alone would compile.
        Base.invokelatest(
            Enzyme.autodiff_thunk,
            mode,
            Const{typeof(f)},
            result,
            arguments...,
        )
    end
end

function read_and_compute(::Type{T}, folder) where {T}
    theta, uobs = inputs(T, 4)
    path = joinpath(folder, "$T.h5")
    write_arrays(path, (; theta, uobs); generator = GENERATOR, seed = 1)
    read_arrays(path)
    GaussSeidel.gs_loss(theta, uobs, 2)
    return GaussSeidel.rb_loss(theta, uobs, 2)
end

# An Enzyme that fails here must not make the package unloadable.  Where it takes the whole
# process with it, WEANJ_WORKLOAD=no leaves the workload out.
@setup_workload begin
    if get(ENV, "WEANJ_WORKLOAD", "yes") != "no"
        @compile_workload begin
            try
                mktempdir() do folder
                    foreach(T -> read_and_compute(T, folder), (Float64, Float32))
                end
                precompile_compiler()
                foreach(compile_gradients, (Float64, Float32))
            catch error
                @warn "the precompile workload of WEANJ failed; first gradients will be slow" error
            end
        end
    end
end
