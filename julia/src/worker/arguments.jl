# What a loss is called with: the arrays of an inputs file, and their hashes as held.

"""
    load_arguments(names, K, dtype, path) -> Tuple

Values of the loss's arguments `names`, in order: `K` itself for `"K"`, else the array of that
name in the file `path`, a number where it has no dimensions.  Throws an `InputsError` where
an array is missing, or is of floating point but not of `dtype`.
"""
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
