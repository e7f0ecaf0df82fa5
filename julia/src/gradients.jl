# Gradients by Enzyme with the bookkeeping done: which argument gets a shadow, which is
# constant, which is scratch.

# What an argument is to the loss.
struct Differentiated end
struct Constant end
struct Scratch end

const Derivable = Union{AbstractFloat, Complex{<:AbstractFloat}}

"""
    WEANJ.gradient(loss, args...; wrt=1, scratch=(), runtime_activity=false, check=true)

Gradient of `loss(args...)` with respect to the arguments at the positions `wrt`, by Enzyme's
reverse mode.  For one position the gradient alone, for a tuple of positions a tuple.

`loss` returns one real floating-point number.  Each argument is one of three things:

- **differentiated** (named in `wrt`): an array with floating-point elements, or a
  floating-point scalar.  The gradient has its shape and element type.
- **scratch** (named in `scratch`): an array that `loss` overwrites.  It starts with the
  elements that are given, and the caller's array is not changed.
- **constant** (every other): numbers, arrays, functions, anything.  `loss` must not write
  into it.

Arrays that are no `Array` or GPU array (views, adjoints, Python's `PyArray`) are converted to
an `Array` before `loss` sees them.  Integers and Booleans cannot be differentiated.  For
complex arguments the gradient is `∂L/∂x + i ∂L/∂y` at `z = x + iy`, the direction of steepest
ascent; JAX gives its conjugate.

All arrays are copied at each call and shadows start at zero, so that nothing accumulates
from call to call.  With `check` the arrays are compared with their copies afterwards:
scratch that was not declared, whose gradient Enzyme loses in silence, is an
`ArgumentError`, and so is a loss that writes into a differentiated array.  A gradient of
exactly zero is a warning.

`runtime_activity=true` has Enzyme decide at run time what is constant.  It is off by default
because it has returned zeros and changed inputs in some releases.

```julia
loss(θ, u, K) = (fill!(u, 0); sweep!(u, θ, K); sum(abs2, u))
WEANJ.gradient(loss, θ, similar(θ), 10; scratch=2)
```
"""
function gradient(loss::F, args::Vararg{Any, N}; options...) where {F, N}
    return last(value_and_gradient(loss, args...; options...))
end

"""
    WEANJ.value_and_gradient(loss, args...; options...) -> (value, gradient)

As [`WEANJ.gradient`](@ref), with the loss from the same pass.
"""
function value_and_gradient(
    loss::F,
    args::Vararg{Any, N};
    wrt::Union{Integer, Tuple} = 1,
    scratch::Union{Integer, Tuple} = (),
    runtime_activity::Bool = false,
    check::Bool = true,
) where {F, N}
    roles = argument_roles(args, wrt, scratch)
    held = map(own, args)
    require_real_loss(loss, held)
    mode = with_runtime_activity(ReverseWithPrimal, runtime_activity)
    activities = map(annotate, roles, held)
    derivatives, value = Enzyme.autodiff(mode, Const(loss), Active, activities...)
    check && require_untouched(roles, args, held)
    gradients = map(derivative, roles, activities, derivatives)
    chosen = map(position -> gradients[position], Tuple(wrt))
    if check && all(is_zero, chosen)
        @warn "the gradient is exactly zero: does the loss depend on what it is differentiated by?" maxlog = 3
    end
    return value, wrt isa Integer ? only(chosen) : chosen
end

"""
    WEANJ.jvp(loss, args...; tangents, wrt=1, scratch=(), runtime_activity=false)

Derivative of `loss(args...)` along `tangents`, by Enzyme's forward mode.

`tangents` is one array (or number) for one position `wrt`, a tuple for a tuple of positions;
each has the size of its argument.  Arguments are as for [`WEANJ.gradient`](@ref).
"""
function jvp(
    loss::F,
    args::Vararg{Any, N};
    tangents,
    wrt::Union{Integer, Tuple} = 1,
    scratch::Union{Integer, Tuple} = (),
    runtime_activity::Bool = false,
) where {F, N}
    roles = argument_roles(args, wrt, scratch)
    given = wrt isa Integer ? (tangents,) : Tuple(tangents)
    length(given) == length(wrt) ||
        throw(ArgumentError("$(length(given)) tangents for $(length(wrt)) arguments"))
    held = map(own, args)
    require_real_loss(loss, held)
    activities = ntuple(N) do k
        position = findfirst(==(k), Tuple(wrt))
        return if position === nothing
            annotate(roles[k], held[k])
        else
            Duplicated(held[k], tangent(k, held[k], given[position]))
        end
    end
    mode = with_runtime_activity(Forward, runtime_activity)
    return only(Enzyme.autodiff(mode, Const(loss), activities...))
end

function argument_roles(args::Tuple, wrt, scratch)
    for (name, positions) in (("wrt", wrt), ("scratch", scratch)), k in Tuple(positions)
        k isa Integer && 1 <= k <= length(args) ||
            throw(ArgumentError("$name: $k is no position among $(length(args)) arguments"))
    end
    isempty(Tuple(wrt)) && throw(ArgumentError("wrt is empty: nothing to differentiate"))
    allunique((Tuple(wrt)..., Tuple(scratch)...)) ||
        throw(ArgumentError("an argument is named twice in wrt and scratch"))
    return ntuple(length(args)) do k
        if k in Tuple(wrt)
            require_derivable(k, args[k])
            return Differentiated()
        elseif k in Tuple(scratch)
            args[k] isa AbstractArray{<:Derivable} ||
                throw(ArgumentError("argument $k is scratch, but no floating-point array"))
            return Scratch()
        end
        return Constant()
    end
end

require_derivable(k, ::Union{Derivable, AbstractArray{<:Derivable}}) = nothing
function require_derivable(k, argument)
    what = argument isa AbstractArray ?
        "elements of type $(eltype(argument))" :
        "type $(typeof(argument))"
    throw(ArgumentError("argument $k has $what: only floating point can be differentiated"))
end

function require_real_loss(loss, args)
    found = Base.promote_op(loss, map(typeof, args)...)
    (found === Union{} || typeintersect(found, AbstractFloat) !== Union{}) && return nothing
    throw(ArgumentError(
        "the loss returns $found; a loss is one real floating-point number",
    ))
end

with_runtime_activity(mode, on::Bool) = on ? Enzyme.set_runtime_activity(mode) : mode

# A private copy that Enzyme can work on.
own(array::Array) = copy(array)
own(array::AbstractArray) = Array(array)
own(argument) = isbits(argument) || argument isa Function ? argument : deepcopy(argument)

annotate(::Differentiated, array::AbstractArray) = Duplicated(array, zero(array))
annotate(::Differentiated, number::Number) = Active(number)
annotate(::Constant, argument) = Const(argument)
annotate(::Scratch, array::AbstractArray) = Duplicated(array, zero(array))

# What the reverse pass left for one argument.
derivative(::Differentiated, activity::Duplicated, _) = activity.dval
derivative(::Differentiated, ::Active, value) = value
derivative(_, _, _) = nothing

function tangent(k, argument::AbstractArray, direction::AbstractArray)
    size(argument) == size(direction) ||
        throw(DimensionMismatch(
            "the tangent of argument $k has size $(size(direction)), not $(size(argument))",
        ))
    return convert(typeof(argument), own(direction))
end
tangent(_, argument::Number, direction::Number) = convert(typeof(argument), direction)
tangent(k, _, _) = throw(ArgumentError("the tangent of argument $k is of another kind"))

function require_untouched(roles, args, held)
    for (k, (role, before, after)) in enumerate(zip(roles, args, held))
        role isa Scratch && continue
        is_same(before, after) && continue
        remedy = if role isa Constant
            "name it in `scratch`, or let the loss copy it"
        else
            "let the loss copy it"
        end
        throw(ArgumentError("the loss writes into argument $k; $remedy"))
    end
end

# Whether nothing was written, NaN counting as equal to NaN; without element-wise access.
is_same(before::AbstractArray, after::AbstractArray) = all(isequal.(before, after))
is_same(_, _) = true

is_zero(array::AbstractArray) = all(iszero, array)
is_zero(number::Number) = iszero(number)
