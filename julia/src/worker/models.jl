# Loading a model's file: one module for each content, and the functions found in it.

# A model is loaded once for each content of its file: its functions keep their compiled code.
const MODELS = Dict{String, Module}()
# Where models were loaded from: lines of files there are worth telling.
const FOLDERS = Set{String}()
# What every module has, and no model writes.
const HIDDEN = (:eval, :include)

"""
    load_model(path) -> Module

The file `path` run in a module of its own; the same module while its content is the same.
Throws an `UnsupportedError` where there is no such file and a `CompileError` where running it
fails.
"""
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

"""
    model_function(model, name) -> Function

What the model calls `name`.  Throws an `UnsupportedError` that lists the functions found
where there is none.
"""
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
