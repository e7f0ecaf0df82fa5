# The inputs of the examples: drawn, found, loaded and checked.

const EXAMPLE = "02-gauss-seidel"

# Arrays of the check size that each example known here needs, by name.
const CHECK_SHAPES = Dict(EXAMPLE => (; theta = (32, 32), uobs = (32, 32)))

const GENERATOR = "pyweanj.normals: theta = normals(seed, 0, (n, n)); uobs = 0.01 * normals(seed, 1, (n, n))"

"""
    normals(seed, stream, dims) -> Array{Float64}

Standard normal numbers to good approximation, the same to the last bit as pyweanj's
`normals` in Python.

Each is the sum of twelve uniforms less 6 (Irwin–Hall), the uniforms being the upper 53 bits
of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) started at `seed · 2³² + stream`.  The array
is filled in C order of `dims`: last index fastest.  `seed` and `stream` are below 2³².

```jldoctest
julia> using WEANJ: normals

julia> normals(1, 0, (3, 2)) == permutedims(reshape(normals(1, 0, (6,)), 2, 3))
true
```
"""
function normals(seed::Integer, stream::Integer, dims::Dims)
    limit = Int64(2)^32
    (0 <= seed < limit && 0 <= stream < limit) ||
        throw(ArgumentError("seed and stream must lie in 0:2^32-1, not $seed and $stream"))
    # The start is hashed once so that neighbouring seeds give unrelated sequences.
    origin = mix(((UInt64(seed) << 32) + UInt64(stream)) * GAMMA)
    drawn = Vector{Float64}(undef, prod(dims))
    for element in eachindex(drawn)
        counter = UInt64(12) * UInt64(element - 1)
        total = 0.0
        for k in 1:12
            bits = mix(origin + (counter + UInt64(k)) * GAMMA) >> 11
            total += Float64(bits) * 0x1p-53
        end
        drawn[element] = total - 6.0
    end
    return reversed(reshape(drawn, reverse(dims)))
end

const GAMMA = 0x9e3779b97f4a7c15

# SplitMix64's finaliser.
function mix(z::UInt64)
    z = (z ⊻ (z >> 30)) * 0xbf58476d1ce4e5b9
    z = (z ⊻ (z >> 27)) * 0x94d049bb133111eb
    return z ⊻ (z >> 31)
end

"""
    inputs(T, n; seed=1) -> (theta, uobs)

The arrays of `02-gauss-seidel` for an n × n grid, with elements of type `T`: the same
numbers as pyweanj's `inputs` draws in Python for that seed.
"""
function inputs(::Type{T}, n::Integer; seed::Integer = 1) where {T <: AbstractFloat}
    dims = (Int(n), Int(n))
    theta = normals(seed, 0, dims)
    uobs = 0.01 * normals(seed, 1, dims)
    return convert(Matrix{T}, theta), convert(Matrix{T}, uobs)
end

# Beside the package: in a wheel `_julia` and `_data` are neighbours, in a checkout `julia` and
# `data` are.
function inputs_path(example::AbstractString)
    beside = dirname(pkgdir(@__MODULE__))
    for folder in ("_data", "data")
        isdir(joinpath(beside, folder)) &&
            return joinpath(beside, folder, example, "inputs.h5")
    end
    throw(InputsError("no data folder beside $(pkgdir(@__MODULE__)); give `path`"))
end

"""
    load_inputs(example="02-gauss-seidel"; path, shapes) -> Dict{String,Array}

The arrays of `example`, with their logical shapes, checked.

`path` is by default the committed file that Python reads too.  `shapes` gives the size that
each array must have by name; by default that of the check size, and for an example that
WEANJ does not know `nothing`: the file is then held only against itself.

Throws [`InputsError`](@ref) as [`read_arrays`](@ref) does, and where an array is missing,
has another shape, or holds NaN or Inf.
"""
function load_inputs(
    example::AbstractString = EXAMPLE;
    path::AbstractString = inputs_path(example),
    shapes = get(CHECK_SHAPES, example, nothing),
)
    arrays = read_arrays(path)
    shapes === nothing && return arrays
    wanted = Dict{String, Array}()
    for (symbol, shape) in pairs_of(shapes)
        name = string(symbol)
        if !haskey(arrays, name)
            found = isempty(arrays) ? "nothing" : join(sort!(collect(keys(arrays))), ", ")
            throw(InputsError("$path: no dataset $name (found: $found)"))
        end
        array = arrays[name]
        if size(array) != shape
            throw(InputsError(
                "$path: $name has shape $(size(array)), but $example needs $shape",
            ))
        end
        bad = findall(!isfinite, array)
        if !isempty(bad)
            first_bad = Tuple(first(bad))
            throw(InputsError(
                "$path: $name holds $(length(bad)) NaN or Inf, the first at $first_bad",
            ))
        end
        wanted[name] = array
    end
    return wanted
end

"""
    ensure_inputs(example="02-gauss-seidel"; path) -> Dict{String,Array}

The check-size arrays of `example`, as [`load_inputs`](@ref) gives them; a file that is
missing is first made from the example's seed.
"""
function ensure_inputs(
    example::AbstractString = EXAMPLE;
    path::AbstractString = inputs_path(example),
)
    if !isfile(path)
        haskey(CHECK_SHAPES, example) ||
            throw(InputsError(
                "$path: no such file, and WEANJ cannot draw $example; make it with pyweanj",
            ))
        seed = 1
        theta, uobs = inputs(Float64, first(CHECK_SHAPES[example].theta); seed)
        write_arrays(
            path,
            (; theta, uobs);
            generator = GENERATOR,
            seed,
            attributes = (; example = String(example)),
        )
    end
    return load_inputs(example; path)
end
