# What runs: versions of Julia and its packages, and the settings of the process.

"""
    versions() -> Dict{String,String}

Version of Julia, its LLVM, and of every loaded package whose change could change a result.
"""
function versions()
    found = Dict("Julia" => string(VERSION), "LLVM" => string(Base.libllvm_version))
    wanted = (
        "Adapt",
        "CUDA",
        "Enzyme",
        "EnzymeCore",
        "Enzyme_jll",
        "GPUCompiler",
        "HDF5",
        "KernelAbstractions",
        "LLVM",
        "OpenSSL_jll",
        "PythonCall",
        "WEANJ",
    )
    for (id, loaded) in Base.loaded_modules
        id.name in wanted || continue
        version = pkgversion(loaded)
        # LLVM.jl and Julia's LLVM have different versions.
        key = id.name == "LLVM" ? "LLVM.jl" : id.name
        version === nothing || (found[key] = string(version))
    end
    found["libhdf5"] = string(WEANJ.HDF5.libversion)
    return found
end

"""
    settings() -> Dict{String,Union{Int,String}}

Thread counts and switches as the running Julia has them.
"""
function settings()
    options = Base.JLOptions()
    return Dict{String, Union{Int, String}}(
        "threads" => Threads.nthreads(),
        "blas_threads" => BLAS.get_num_threads(),
        "optimize" => Int(options.opt_level),
        "check_bounds" => ("auto", "yes", "no")[options.check_bounds + 1],
        "inline" => ("no", "yes")[options.can_inline + 1],
        "handle_signals" => ("no", "yes")[options.handle_signals + 1],
        "debug_level" => Int(options.debug_level),
        "startup_file" => options.startupfile == 2 ? "no" : "yes",
        "cpu" => String(Sys.CPU_NAME),
        "project" => something(Base.active_project(), ""),
    )
end
