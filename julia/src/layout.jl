# The shared HDF5 layout: every dataset in C order of its logical shape, with the attributes
# axes, dtype and sha256.  HDF5.jl sees such dimensions reversed.

"""
    InputsError(message)

A file of arrays that must not be used; `message` is one line that says why.
"""
struct InputsError <: Exception
    message::String
end

Base.showerror(io::IO, error::InputsError) = print(io, "InputsError: ", error.message)

const RealNumber = Union{
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
}

# NumPy's name of a Julia element type; `string` for what has none, so that a message can say it.
dtype_name(::Type{T}) where {T <: RealNumber} = lowercase(string(T))
dtype_name(::Type{Bool}) = "bool"
dtype_name(::Type{ComplexF32}) = "complex64"
dtype_name(::Type{ComplexF64}) = "complex128"
dtype_name(::Type{T}) where {T} = string(T)

# The array with its dimensions in the opposite order: from C order to logical and back.
reversed(array::Array{<:Any, 0}) = array
reversed(array::Vector) = array
reversed(array::Array{T, N}) where {T, N} = permutedims(
    array,
    ntuple(i -> N + 1 - i, Val(N)),
)

# An Array with the elements of `array` (a view, an adjoint, a wrapped foreign array).
dense(array::Array) = array
dense(array::AbstractArray) = Array(array)
dense(number::Number) = fill(number)

"""
    array_sha256(array) -> String

SHA-256 of the little-endian bytes of `array` in C order of its logical shape, as 64 hex
digits: what pyweanj's `inputs.sha256` gives for the same array in Python.
"""
function array_sha256(array::AbstractArray)
    bytes = collect(reinterpret(UInt8, vec(reversed(dense(array)))))
    return bytes2hex(sha256(bytes))
end

"""
    read_arrays(path) -> Dict{String,Array}

Every dataset of a file in the shared layout, with its logical shape: what h5py shows as
`(2, 3)` is a 2×3 matrix.  Booleans, stored as `UInt8`, come back as `Bool`; a scalar as an
array without dimensions.

Throws [`InputsError`](@ref) where the file is missing, truncated or not HDF5, where a
dataset is not of the dtype that it declares, and where its bytes differ from the stored
SHA-256.
"""
function read_arrays(path::AbstractString)
    isfile(path) || throw(InputsError("$path: no such file"))
    try
        return HDF5.h5open(path, "r") do file
            datasets = filter(name -> file[name] isa HDF5.Dataset, keys(file))
            return Dict{String, Array}(
                name => checked_array(path, name, file[name])
                for name in datasets
            )
        end
    catch error
        error isa Union{InputsError, InterruptException} && rethrow()
        reason = first_line(sprint(showerror, error))
        throw(InputsError("$path: not a readable HDF5 file ($reason)"))
    end
end

function checked_array(path, name, dataset)
    stored = read(dataset)
    array = stored isa AbstractArray ? reversed(dense(stored)) : fill(stored)
    declared = text_attribute(dataset, "dtype")
    if declared == "bool"
        array = map(!iszero, array)
    end
    found = dtype_name(eltype(array))
    if found != declared
        said = isempty(declared) ? "nothing" : declared
        throw(InputsError("$path: $name is stored as $found but declared as $said"))
    end
    expected = text_attribute(dataset, "sha256")
    if array_sha256(array) != expected
        what = isempty(expected) ? "was never stored" : "differs from the stored one"
        throw(InputsError("$path: the SHA-256 of $name $what; the file is damaged"))
    end
    return array
end

function text_attribute(object, name)
    attributes = HDF5.attributes(object)
    return haskey(attributes, name) ? string(read(attributes[name])) : ""
end

# From an array without dimensions HDF5.jl makes a string of variable length, which h5py reads
# as str; a plain String would become one of fixed length, which h5py reads as bytes.
write_attribute(object, name, value::AbstractString) = HDF5.write_attribute(
    object,
    name,
    fill(String(value)),
)
write_attribute(object, name, value) = HDF5.write_attribute(object, name, value)

"""
    write_arrays(path, arrays; generator="", seed=nothing, attributes=())

Write `arrays` (pairs of name and array: a `Dict`, a `NamedTuple`) to `path` in the shared
layout.  `attributes` are pairs for the file itself.  The file appears under its name only
when it is complete.  Returns `path`.
"""
function write_arrays(
    path::AbstractString,
    arrays;
    generator = "",
    seed = nothing,
    attributes = (),
)
    atomically(path) do temporary
        HDF5.h5open(temporary, "w"; libver_bounds = (:earliest, v"1.10")) do file
            for (name, value) in pairs_of(attributes)
                write_attribute(file, string(name), value)
            end
            for (name, value) in pairs_of(arrays)
                array = dense(value)
                file[string(name)] = stored_form(array)
                dataset = file[string(name)]
                write_attribute(dataset, "axes", join("ijklmn"[1:ndims(array)], ","))
                write_attribute(dataset, "dtype", dtype_name(eltype(array)))
                write_attribute(dataset, "sha256", array_sha256(array))
                isempty(generator) || write_attribute(dataset, "generator", generator)
                seed === nothing || write_attribute(dataset, "seed", Int(seed))
            end
        end
    end
    return path
end

stored_form(array::Array{Bool}) = UInt8.(reversed(array))
stored_form(array::Array{<:Any, 0}) = array[]
stored_form(array::Array{Bool, 0}) = UInt8(array[])
stored_form(array::Array) = reversed(array)

pairs_of(collection::Union{NamedTuple, AbstractDict}) = pairs(collection)
pairs_of(collection) = collection

# Call `write(temporary)`, then give the file its name; nothing is left behind on failure.
function atomically(write, path::AbstractString)
    folder = dirname(abspath(path))
    mkpath(folder)
    temporary = tempname(folder; cleanup = false)
    try
        write(temporary)
        chmod(temporary, 0o644)
        # `mv(…; force=true)` removes the old file first; this replaces it in one step.
        Base.Filesystem.rename(temporary, path)
    catch
        rm(temporary; force = true)
        rethrow()
    end
    return path
end

function first_line(text::AbstractString)
    for line in eachsplit(text, '\n')
        isempty(strip(line)) || return String(strip(line))
    end
    return "no message"
end
