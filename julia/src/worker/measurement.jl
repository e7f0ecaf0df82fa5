# What calls cost: seconds, and bytes by kind.

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
