# What a process does first, done once while the package is precompiled.
#
# Not the gradients: Julia knows Enzyme's compiled code by its address alone, which would be
# kept in the package image and belong to another process (a call of it is a segmentation
# fault), and code that Enzyme compiles while an image is written must not even be run.  What
# can be kept is Enzyme's compiler itself, most of which Julia would otherwise compile anew in
# every process: that is the larger part of the time of a first gradient.

using PrecompileTools: @compile_workload, @setup_workload

# Compile the methods of Enzyme's compiler that are called from LLVM: the types of all their
# arguments are given, and Julia does not see the calls.
function precompile_enzyme()
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

# Inputs, results and both losses: everything but Enzyme.
function read_and_compute(::Type{T}, folder) where {T}
    theta, uobs = inputs(T, 4)
    path = joinpath(folder, "$T.h5")
    write_arrays(path, (; theta, uobs); generator = GENERATOR, seed = 1)
    read_arrays(path)
    attributes = (; example = EXAMPLE, loss_dtype = dtype_name(T))
    write_arrays(path, ["theta" => theta]; attributes)
    GaussSeidel.gs_loss(theta, uobs, 2)
    return GaussSeidel.rb_loss(theta, uobs, 2)
end

@setup_workload begin
    @compile_workload begin
        # Whatever fails here must not make the package unloadable.
        try
            precompile_enzyme()
            mktempdir() do folder
                foreach(T -> read_and_compute(T, folder), (Float64, Float32))
            end
        catch error
            @warn "the precompile workload of WEANJ failed; first gradients will be slow" error
        end
    end
end
