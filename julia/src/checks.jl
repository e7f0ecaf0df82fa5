# Finite differences and the clock.

"""
    fd_check(loss, θ, g; n=10, h=1e-2, rng=Xoshiro(1)) -> Float64

Largest error of the gradient `g` of `loss` at `θ` against central finite differences with
step `h`, over `n` randomly chosen entries, relative to the largest entry of `g`.

The remainder of a central difference is of third order, so for a quadratic loss a large
step is exact up to rounding.  Where `g` is zero everywhere the result is 0 if every
difference is exactly 0 and `Inf` otherwise.  `θ` is not changed; it and `g` may live on a
GPU.
"""
function fd_check(
    loss,
    θ::AbstractArray{T},
    g::AbstractArray;
    n::Integer = 10,
    h::Real = 1.0e-2,
    rng = Xoshiro(1),
) where {T <: AbstractFloat}
    size(θ) == size(g) ||
        throw(DimensionMismatch("θ has size $(size(θ)), its gradient $(size(g))"))
    n >= 1 && 0 < h < Inf || throw(ArgumentError("n and h must be positive, not $n and $h"))
    start, gradient = host(θ), host(g)
    chosen = first(Random.randperm(rng, length(start)), n)
    errors = map(chosen) do k
        # The steps that are really made, after rounding in T.
        above, below = start[k] + T(h), start[k] - T(h)
        rise = Float64(loss(moved(θ, k, above))) - Float64(loss(moved(θ, k, below)))
        return abs(rise / (Float64(above) - Float64(below)) - gradient[k])
    end
    scale = maximum(abs, gradient)
    iszero(scale) && return all(iszero, errors) ? 0.0 : Inf
    return Float64(maximum(errors) / scale)
end

# A copy of `θ`, where it lives, with `value` at the linear index `k`.
function moved(θ, k, value)
    array = copy(host(θ))
    array[k] = value
    return like(θ, array)
end

# `array` where `original` lives.
like(::AbstractArray, array) = array

# `array` on the host, as an Array.
host(array) = dense(array)

"""
    time_median(f; sync=identity, samples=10) -> Float64

Median seconds of `f()` over `samples` calls after one that is not counted.  `sync` is given
the result of each call and returns when the device has finished; its time counts.
"""
function time_median(f; sync = identity, samples::Integer = 10)
    samples >= 1 || throw(ArgumentError("samples must be at least 1, not $samples"))
    sync(f())
    return median([elapsed(f, sync) for _ in 1:samples])
end

function elapsed(f, sync)
    start = time_ns()
    Base.donotdelete(sync(f()))
    return (time_ns() - start) * 1.0e-9
end
