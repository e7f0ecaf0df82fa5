# One loss with its gradient and arguments on a device, compiled by one call of each.

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
    Implementation

One loss at one size on one device, with its gradient and everything needed to call them:
`args` are the arguments as the device holds them, `names` what they are called, `wrt` the
positions of those that the gradient is for, `label` the function that gives the gradient and
`phases` the seconds of [`prepare`](@ref).
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

# `prepare` behind the world of the model: finds the functions, moves the arrays, compiles.
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

# First calls of the loss and the gradient, with what must hold of them checked.
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
