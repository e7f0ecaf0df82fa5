# What a run leaves behind: gradients as HDF5, timings as JSON.

"""
    save_gradient(example, name, gradient; folder="results/<example>") -> String

Write a gradient in the layout of the inputs to `<folder>/gradients/<name>.h5` and return
that path.  `gradient` is an array, stored as `gradient`, or arrays by the name of their
argument (`Dict`, `NamedTuple`).
"""
function save_gradient(
    example::AbstractString,
    name::AbstractString,
    gradient;
    folder::AbstractString = joinpath("results", example),
)
    arrays = gradient isa Union{AbstractArray, Number} ?
        (; gradient = host(gradient)) :
        gradient
    path = joinpath(folder, "gradients", "$name.h5")
    return write_arrays(path, arrays; attributes = (; example = String(example)))
end

"""
    write_results(example, system, device, records; folder="results/<example>") -> String

Write the timing records of one system on one device to `<folder>/<system>-<device>.json`
and return that path.

A record is a `NamedTuple` or `Dict` with the keys `dtype`, `variant`, `N`, `n`, `K`,
`forward_s`, `grad_s`, `compile_s`, `peak_mem_bytes`; `nothing` where something was not
measured becomes null.
"""
function write_results(
    example::AbstractString,
    system::AbstractString,
    device::AbstractString,
    records;
    folder::AbstractString = joinpath("results", example),
)
    path = joinpath(folder, "$system-$device.json")
    return atomically(path) do temporary
        open(temporary, "w") do io
            print(io, "{")
            for (key, value) in pairs((; example, system, device))
                json(io, key)
                print(io, ": ")
                json(io, value)
                print(io, ", ")
            end
            print(io, "\"records\": [")
            for (k, record) in enumerate(records)
                print(io, k == 1 ? "\n " : ",\n ")
                json(io, record)
            end
            print(io, "\n]}\n")
        end
    end
end

# JSON of what a record can hold; numbers that JSON lacks are strings, as in Python's records.
json(io::IO, ::Union{Nothing, Missing}) = print(io, "null")
json(io::IO, value::Union{Bool, Integer}) = print(io, value)
function json(io::IO, value::AbstractFloat)
    isfinite(value) && return print(io, Float64(value))
    return json(io, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity")
end
json(io::IO, value::Symbol) = json(io, string(value))
function json(io::IO, value::AbstractString)
    print(io, '"')
    for character in value
        if character in ('"', '\\')
            print(io, '\\', character)
        elseif character < ' '
            print(io, "\\u", string(UInt16(character); base = 16, pad = 4))
        else
            print(io, character)
        end
    end
    return print(io, '"')
end
function json(io::IO, values::Union{Tuple, AbstractArray})
    print(io, '[')
    for (k, value) in enumerate(values)
        k == 1 || print(io, ", ")
        json(io, value)
    end
    return print(io, ']')
end
function json(io::IO, record::Union{NamedTuple, AbstractDict})
    print(io, '{')
    for (k, (key, value)) in enumerate(pairs(record))
        k == 1 || print(io, ", ")
        json(io, string(key))
        print(io, ": ")
        json(io, value)
    end
    return print(io, '}')
end
