module TestLayout

using HDF5: HDF5, h5open
using Test: @test, @test_throws, @testset
using WEANJ: WEANJ, InputsError, array_sha256, read_arrays, write_arrays

message(f) = try
    f()
    "nothing was thrown"
catch error
    error isa InputsError || rethrow()
    error.message
end

# None is square or symmetric.
const ARRAYS = (
    matrix = [0.0 1.0 2.0; 3.0 4.0 5.0],
    single = Float32[1.5 -2.5; 3.5 4.5; 5.5 6.5],
    cube = reshape(collect(1.0:24.0), 2, 3, 4),
    vector = [3, 1, 2],
    truth = [true false true; false false true],
    complex = [1.0 + 2.0im 3.0im 1.0 0.0; 4.0 5.0 6.0 7.0],
    scalar = fill(2.5),
)

@testset "a file gives back what was written" begin
    mktempdir() do folder
        path = write_arrays(
            joinpath(folder, "new", "a.h5"),
            ARRAYS;
            generator = "by hand",
            seed = 3,
        )
        back = read_arrays(path)
        @test keys(back) == Set(string.(keys(ARRAYS)))
        for (name, array) in pairs(ARRAYS)
            @test back[string(name)] == array
            @test typeof(back[string(name)]) == typeof(array)
        end
        @test readdir(dirname(path)) == ["a.h5"] # no temporary file is left
    end
end

@testset "C order of the logical shape on the disk" begin
    mktempdir() do folder
        path = write_arrays(joinpath(folder, "a.h5"), ARRAYS; seed = 3)
        h5open(path) do file
            # HDF5.jl shows the dimensions reversed: Python sees (2, 3) and (2, 3, 4).
            @test size(file["matrix"]) == (3, 2)
            @test vec(read(file["matrix"])) == 0.0:5.0
            @test size(file["cube"]) == (4, 3, 2)
            @test eltype(file["truth"]) == UInt8
            @test read(file["matrix"]["axes"]) == "i,j"
            @test read(file["cube"]["axes"]) == "i,j,k"
            @test read(file["truth"]["dtype"]) == "bool"
            @test read(file["complex"]["dtype"]) == "complex128"
            @test read(file["matrix"]["seed"]) == 3
            # h5py reads a string as str only if its length is variable.
            type = HDF5.datatype(file["matrix"]["dtype"])
            @test HDF5.API.h5t_is_variable_str(type)
        end
    end
end

@testset "SHA-256 as in Python: $name" for (name, array, expected) in (
        (
            "float64",
            ARRAYS.matrix,
            "84a6e8b7afdd286a48ab0aab2c72227fff91a935b0489e633018914bd01693cd",
        ),
        (
            "bool",
            ARRAYS.truth,
            "4be4656d02d7d66839900d55b06fd34b9b09c3c0c2c39466ff29ebc0bb85b300",
        ),
        (
            "complex128",
            ARRAYS.complex,
            "f9aae2ba1cf809d4c28716fc55dbc0039583c1827e727ed33710477415275369",
        ),
        (
            "int64",
            [0 1; 2 3; 4 5],
            "f190072c5052f4f440d4a607c25f5bced487c420806c9aab4ca5b0653e72da61",
        ),
        (
            "scalar",
            ARRAYS.scalar,
            "5caaabe50da77f59f448b3edf650d68fbca7b858390664c251c52b3f458a881c",
        ),
    )
    @test array_sha256(array) == expected
    # A view, an adjoint, a range: the elements count, not how they lie.
    @test array_sha256(view(array, axes(array)...)) == expected
    if ndims(array) == 2
        @test array_sha256(permutedims(array)') != array_sha256(permutedims(array))
        @test array_sha256(transpose(permutedims(array))) == expected
    end
end

function damaged(change, name)
    folder = mktempdir()
    path = write_arrays(joinpath(folder, "$name.h5"), ARRAYS)
    change(path)
    return path
end

function flip(path)
    bytes = read(path)
    # The eight bytes of 5.0, which only the matrix ends with.
    position = findfirst(reinterpret(UInt8, [3.0, 4.0, 5.0]), bytes)
    bytes[first(position)] ⊻= 0x01
    return write(path, bytes)
end

rewrite(change) = path -> h5open(change, path, "r+")

@testset "refused: $name" for (name, change, expected) in (
        (
            "flipped",
            flip,
            "the SHA-256 of matrix differs from the stored one; the file is damaged",
        ),
        (
            "truncated",
            path -> write(path, read(path)[1:(end ÷ 2)]),
            "not a readable HDF5 file",
        ),
        ("text", path -> write(path, "theta"), "not a readable HDF5 file"),
        ("absent", path -> rm(path), "no such file"),
        (
            "other dtype",
            rewrite() do file
                HDF5.delete_attribute(file["matrix"], "dtype")
                return WEANJ.write_attribute(file["matrix"], "dtype", "float32")
            end,
            "matrix is stored as float64 but declared as float32",
        ),
        (
            "undeclared",
            rewrite(file -> HDF5.delete_attribute(file["matrix"], "dtype")),
            "matrix is stored as float64 but declared as nothing",
        ),
        (
            "unhashed",
            rewrite(file -> HDF5.delete_attribute(file["matrix"], "sha256")),
            "the SHA-256 of matrix was never stored",
        ),
        (
            "transposed",
            rewrite() do file
                sha = read(file["matrix"]["sha256"])
                HDF5.delete_object(file, "matrix")
                file["matrix"] = [0.0 1.0 2.0; 3.0 4.0 5.0]
                WEANJ.write_attribute(file["matrix"], "dtype", "float64")
                return WEANJ.write_attribute(file["matrix"], "sha256", sha)
            end,
            "the SHA-256 of matrix differs",
        ),
    )
    path = damaged(change, name)
    text = message(() -> read_arrays(path))
    @test startswith(text, path)
    @test occursin(expected, text)
    @test !occursin('\n', text)
end

@testset "a failed write leaves the old file alone" begin
    mktempdir() do folder
        path = write_arrays(joinpath(folder, "a.h5"), (; a = [1.0]))
        @test_throws MethodError write_arrays(path, (; a = [2.0], b = nothing))
        @test read_arrays(path)["a"] == [1.0]
        @test readdir(folder) == ["a.h5"]
    end
end

end
