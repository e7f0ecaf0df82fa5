# One evaluation: the loss returned, and the gradients written by the name of their argument.

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
