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

"""
    UnsupportedError(message)

The model has nothing that answers the request; `message` is one line that says why.
"""
struct UnsupportedError <: Exception
    message::String
end

"""
    CompileError(message)

The model cannot be loaded or differentiated; `message` is one line that says why.
"""
struct CompileError <: Exception
    message::String
end

Base.showerror(io::IO, error::Union{UnsupportedError, CompileError}) = print(
    io,
    nameof(typeof(error)),
    ": ",
    error.message,
)

# Gradient of `loss` by reverse mode, as lean as a hand-written one: no copies, no checks.
struct ReverseGradient{L, R <: Tuple}
    loss::L
    roles::R
end

function (reverse::ReverseGradient)(args::Vararg{Any, N}) where {N}
    activities = map(WEANJ.annotate, reverse.roles, args)
    derivatives, = Enzyme.autodiff(Reverse, Const(reverse.loss), Active, activities...)
    return map(WEANJ.derivative, reverse.roles, activities, derivatives)
end

"""
One loss at one size on one device, with its gradient and everything needed to call them.
"""
struct Implementation{L, G, A <: Tuple, D <: WEANJ.Device}
    loss::L
    gradient::G
    args::A
    names::Vector{String}
    wrt::Vector{Int}
    device::D
    label::String
    phases::Dict{String, Float64}
end

# A model is loaded once for each content of its file: its functions keep their compiled code.
const MODELS = Dict{String, Module}()
# Where models were loaded from: lines of files there are worth telling.
const FOLDERS = Set{String}()

"""
    prepare(model, loss, gradient, arguments, differentiate, K, dtype, inputs, device)

Load the functions `loss` and `gradient` (a name, or `nothing` for reverse mode on the loss)
from the file `model` and the arrays from the file `inputs`, move these to `device` and
compile by one call each.

`arguments` are the loss's arguments in order, names of arrays or `"K"`; `differentiate` are
the arrays that the gradient is for.  Arrays without dimensions are passed as numbers.
`dtype` is `"float64"` or `"float32"`, what every floating-point array must be.

The result's `phases` are the seconds of `model_s` (model and inputs), `first_call_s` (the
first gradient) and `compile_s` (the first gradient less a second one).
"""
function prepare(model, loss, gradient, arguments, differentiate, K, dtype, inputs, device)
    start = time_ns()
    target = WEANJ.device(device)
    names = collect(String, arguments)
    functions = load_model(model)
    args = load_arguments(names, Int(K), dtype, inputs)
    # Methods of a model that was loaded just now are of a newer world than this function.
    return Base.invokelatest(
        build,
        functions,
        loss,
        gradient,
        names,
        collect(String, differentiate),
        args,
        target,
        start,
    )
end

function build(model, loss, gradient, names, differentiate, args, device, start)
    moved = map(x -> WEANJ.transfer(device, x), args)
    wrt = [findfirst(==(name), names) for name in differentiate]
    for (name, position) in zip(differentiate, wrt)
        position === nothing && throw(UnsupportedError("$name is no argument of the loss"))
        moved[position] isa Union{Derivable, AbstractArray{<:Derivable}} ||
            throw(UnsupportedError("$name is no floating-point array"))
    end
    f = model_function(model, loss)
    require_method(f, loss, names, moved)
    roles = ntuple(k -> k in wrt ? Differentiated() : Constant(), length(moved))
    g = gradient === nothing ? ReverseGradient(f, roles) : model_function(model, gradient)
    gradient === nothing || require_method(g, gradient, names, moved)
    implementation = Implementation(
        f,
        g,
        moved,
        names,
        wrt,
        device,
        string(something(gradient, loss)),
        Dict{String, Float64}(),
    )
    implementation.phases["model_s"] = (time_ns() - start) * 1.0e-9
    # Told in the task itself, where the line of the model that led to it is still known.
    with_large_stack() do
        try
            compile!(implementation)
        catch error
            error isa Union{UnsupportedError, CompileError, InterruptException} && rethrow()
            throw(CompileError(one_line(error, catch_backtrace())))
        end
    end
    return implementation
end

function compile!(implementation::Implementation)
    (; loss, args, names, phases) = implementation
    before = map(argument -> argument isa AbstractArray ? copy(argument) : argument, args)
    value = loss(args...)
    value isa AbstractFloat ||
        throw(CompileError(
            "the loss returns $(typeof(value)); a loss is one real number$(place(loss))",
        ))
    for (name, old, new) in zip(names, before, args)
        WEANJ.is_same(old, new) ||
            throw(CompileError("the loss writes into $name$(place(loss))"))
    end
    # Called so that inference does not follow: it alone makes Enzyme compile, before any clock
    # starts.  And not what `sample` says: what it calls is compiled before its own clock starts.
    start = time_ns()
    Base.invokelatest(sample, implementation, "gradient", 1)
    first_call = (time_ns() - start) * 1.0e-9
    phases["first_call_s"] = first_call
    gradients = Base.invokelatest(implementation.gradient, implementation.args...)
    named_gradients(implementation, gradients)
    steady = Base.invokelatest(sample, implementation, "gradient", 1)
    phases["compile_s"] = max(0.0, first_call - steady)
    # The time of an evaluation is taken for that of a call: let it compile nothing.
    precompile(evaluate, (typeof(implementation), String, String))
    return nothing
end

function load_model(path)
    isfile(path) || throw(UnsupportedError("the example has no $(basename(path)) ($path)"))
    source = read(path)
    push!(FOLDERS, dirname(abspath(path)))
    return get!(MODELS, string(abspath(path), ' ', bytes2hex(sha256(source)))) do
        model = Module(:Model)
        # A bare module lacks the `include` of its own that `module … end` defines.
        Core.eval(model, :(include(file) = $(Base.include)($model, file)))
        try
            Base.include(model, abspath(path))
        catch error
            error isa InterruptException && rethrow()
            throw(CompileError(one_line(error)))
        end
        model
    end
end

function model_function(model, name)
    symbol = Symbol(name)
    if !holds(model, symbol)
        own = filter(names(model; all = true, imported = true)) do n
            return holds(model, n) && getfield(model, n) isa Function && !(n in HIDDEN)
        end
        filter!(n -> !startswith(string(n), '#'), own)
        found = isempty(own) ? "no function" : join(sort!(own), ", ")
        throw(UnsupportedError("model.jl has no function $name (found: $found)"))
    end
    return getfield(model, symbol)
end

const HIDDEN = (:eval, :include)

# Whether `f`, called `name` in the model, can be called with the problem's arguments.
function require_method(f, name, arguments, args)
    applicable(f, args...) && return nothing
    given = join(("$a::$(typeof(x))" for (a, x) in zip(arguments, args)), ", ")
    throw(CompileError(
        "$name is called with ($given) and has no method for that$(place(f))",
    ))
end

# Where `f` is written: " (model.jl:3)".
function place(f)
    found = collect(methods(f))
    isempty(found) && return ""
    return " ($(basename(string(first(found).file))):$(first(found).line))"
end

# Whether the model defines or imports `symbol`; what every module sees of Base is not its own.
holds(model, symbol) = isdefined(model, symbol) &&
    !(Base.binding_module(model, symbol) in (Base, Core))

function load_arguments(names, K, dtype, path)
    arrays = WEANJ.read_arrays(path)
    args = map(names) do name
        name == "K" && return K
        haskey(arrays, name) || throw(InputsError("$path: no dataset $name"))
        array = arrays[name]
        if eltype(array) <: Derivable && WEANJ.dtype_name(real(eltype(array))) != dtype
            found = WEANJ.dtype_name(eltype(array))
            throw(InputsError("$path: $name is $found, but $dtype was asked for"))
        end
        return ndims(array) == 0 ? array[] : array
    end
    return Tuple(args)
end

"""
    input_sha256(implementation) -> Dict{String,String}

SHA-256 of each array as held now, by name: of its logical C-order bytes.
"""
function input_sha256(implementation::Implementation)
    return Dict(
        name => array_sha256(WEANJ.host(argument))
        for (name, argument) in zip(implementation.names, implementation.args)
        if name != "K"
    )
end

"""
    evaluate(implementation, path, example) -> Float64

Loss; the gradient goes to the file `path` in the layout of the inputs, never cast, with the
attributes `example` and `loss_dtype`, the dtype that the loss came out in.
"""
function evaluate(implementation::Implementation, path, example)
    (; loss, gradient, args, device) = implementation
    value = loss(args...)
    gradients = named_gradients(implementation, gradient(args...))
    WEANJ.synchronize(device)
    attributes = (; example, loss_dtype = WEANJ.dtype_name(typeof(value)))
    WEANJ.write_arrays(path, gradients; attributes)
    return Float64(value)
end

# What a gradient function returned, as host arrays by the name of their argument.
function named_gradients(implementation::Implementation, returned)
    (; names, wrt, args, label) = implementation
    gradients = in_order(implementation.gradient, returned, names, wrt)
    length(gradients) == length(wrt) ||
        throw(CompileError(
            "$label gives $(length(gradients)) gradients for $(length(wrt)) arrays",
        ))
    return map(wrt, gradients) do position, gradient
        name = names[position]
        gradient isa Union{Number, AbstractArray} ||
            throw(CompileError("$label gives a $(typeof(gradient)) for $name"))
        size(gradient) == size(args[position]) ||
            throw(CompileError(
                "$label gives size $(size(gradient)) for $name of size $(size(args[position]))",
            ))
        return name => WEANJ.host(gradient)
    end
end

in_order(::ReverseGradient, returned, _, wrt) = [returned[position] for position in wrt]
in_order(_, returned, names, wrt) = in_order(returned, names, wrt)
in_order(returned::Tuple, _, _) = collect(Any, returned)
in_order(returned, _, _) = Any[returned]
function in_order(returned::Union{NamedTuple, AbstractDict}, names, wrt)
    given = Dict(string(key) => value for (key, value) in pairs(returned))
    return map(wrt) do position
        get(given, names[position]) do
            throw(CompileError(
                "the gradient function returns nothing for $(names[position])",
            ))
        end
    end
end

"""
    losses(implementation, direction, steps) -> Vector{Float64}

Loss with the inputs moved by each of `steps` along `direction`: `(name, index)` for one
entry, `index` counted from 0, or the path of a file with one array for each differentiated
argument.  The move is made in double precision and rounded once to the type of the inputs.
"""
function losses(implementation::Implementation, direction, steps)
    tangents = directions(implementation, direction)
    return with_large_stack() do
        return map(collect(Float64, steps)) do step
            args = map(implementation.args, tangents) do argument, tangent
                tangent === nothing && return argument
                return moved(implementation.device, argument, step, tangent)
            end
            return Float64(implementation.loss(args...))
        end
    end
end

moved(_, number::T, step, tangent) where {T <: Number} = convert(
    T,
    number + step * tangent[],
)
function moved(device, array::AbstractArray, step, tangent)
    start = WEANJ.host(array)
    return WEANJ.transfer(device, convert(typeof(start), start .+ step .* tangent))
end

"""
    jvp(implementation, direction) -> Float64

Derivative of the loss along `direction` (see [`losses`](@ref)) by forward mode.
"""
function jvp(implementation::Implementation, direction)
    (; args, wrt, device) = implementation
    wide = directions(implementation, direction)
    tangents = map(wrt) do position
        argument, tangent = args[position], wide[position]
        argument isa Number && return convert(typeof(argument), tangent[])
        return WEANJ.transfer(device, convert(typeof(WEANJ.host(argument)), tangent))
    end
    try
        return with_large_stack() do
            return Float64(WEANJ.jvp(
                implementation.loss,
                args...;
                wrt = Tuple(wrt),
                tangents = Tuple(tangents),
            ))
        end
    catch error
        error isa Union{InterruptException, OutOfMemoryError} && rethrow()
        throw(UnsupportedError("no forward mode: $(one_line(error))"))
    end
end

# `direction` as one double-precision array for each differentiated argument, else nothing.
function directions(implementation::Implementation, direction)
    (; names, wrt, args) = implementation
    arrays = direction isa AbstractString ? WEANJ.read_arrays(direction) : nothing
    tangents = ntuple(length(args)) do k
        k in wrt || return nothing
        wide = eltype(args[k]) <: Complex ? ComplexF64 : Float64
        arrays === nothing && return zeros(wide, size(args[k]))
        haskey(arrays, names[k]) || throw(InputsError("$direction: no dataset $(names[k])"))
        array = arrays[names[k]]
        size(array) == size(args[k]) ||
            throw(InputsError(
                "$direction: $(names[k]) has size $(size(array)), not $(size(args[k]))",
            ))
        return wide.(array)
    end
    if arrays === nothing
        name, index = direction
        position = findfirst(==(name), names)
        position in wrt || throw(ArgumentError("$name is not differentiated"))
        tangents[position][(Int.(index) .+ 1)...] = 1
    end
    return tangents
end

"""
    sample(implementation, what, calls) -> Float64

Seconds that `calls` calls of `"forward"` or `"gradient"` took together; the device has
finished when the clock is read.
"""
function sample(implementation::Implementation, what, calls)
    f = chosen(implementation, what)
    return timed(f, implementation.args, implementation.device, Int(calls))
end

function chosen(implementation::Implementation, what)
    what == "forward" && return implementation.loss
    what == "gradient" && return implementation.gradient
    throw(ArgumentError("unknown call $what: forward or gradient"))
end

# A function of its own, so that it is compiled for these very types and no call is dispatched
# while the clock runs.
@noinline function timed(f::F, args::A, device::D, calls::Int) where {F, A <: Tuple, D}
    WEANJ.synchronize(device)
    start = time_ns()
    for _ in 1:calls
        Base.donotdelete(f(args...))
    end
    WEANJ.synchronize(device)
    return (time_ns() - start) * 1.0e-9
end

"""
    caller(implementation, what)

A function of no arguments that makes one call and waits for the device, for Python to time
what the bridge adds.
"""
function caller(implementation::Implementation, what)
    f = chosen(implementation, what)
    return () -> (timed(f, implementation.args, implementation.device, 1); nothing)
end

"""
    memory(implementation, what) -> Dict{String,Int}

Bytes that one call of `"forward"` or `"gradient"` allocates, by kind.
"""
function memory(implementation::Implementation, what)
    return allocated(
        chosen(implementation, what),
        implementation.args,
        implementation.device,
    )
end

@noinline allocated(f::F, args::A, device) where {F, A <: Tuple} = WEANJ.allocated(
    () -> f(args...),
    device,
)

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

"""
    describe(error, trace=nothing) -> (kind, line)

The name of an exception's type, and its text in one line with the line of the model that led
to it, as far as `trace`, its backtrace, tells it.
"""
describe(error, trace = nothing) = (string(nameof(typeof(error))), one_line(error, trace))
describe(error::Union{UnsupportedError, CompileError, InputsError}, _ = nothing) = (
    string(nameof(typeof(error))),
    error.message,
)

function one_line(error, trace = nothing)
    error isa TaskFailedException && return one_line(error.task.exception, trace)
    error isa CapturedException && return one_line(error.ex, trace)
    if error isa LoadError
        return "$(one_line(error.error)) ($(basename(error.file)):$(error.line))"
    end
    text = sprint(showerror, error)
    line, kind = WEANJ.first_line(text), string(nameof(typeof(error)))
    error isa ErrorException || occursin(kind, line) || (line = "$kind: $line")
    return line * model_line(trace, text)
end

frames(::Nothing) = Base.StackTraces.StackFrame[]
frames(trace::Vector{Base.StackTraces.StackFrame}) = trace
frames(trace) = stacktrace(trace)

# The innermost line of a model in a backtrace, or in the text of an error of Enzyme's, which
# brings a trace of its own.
function model_line(trace, text)
    for frame in frames(trace)
        file = string(frame.file)
        dirname(file) in FOLDERS && return " ($(basename(file)):$(frame.line))"
    end
    for found in eachmatch(r"([^\s:]+\.jl):(\d+)", text)
        file, line = found.captures
        dirname(expanduser(file)) in FOLDERS && return " ($(basename(file)):$line)"
    end
    return ""
end

end
