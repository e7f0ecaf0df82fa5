# Along a direction: losses at moved inputs, and the derivative by forward mode.

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
