module TestInputs

using Test: @test, @test_throws, @testset
using WEANJ:
    WEANJ,
    InputsError,
    array_sha256,
    ensure_inputs,
    inputs,
    load_inputs,
    normals,
    write_arrays

# What Python's `normals` and `inputs` give, to the last bit.
@testset "normals($seed, $stream, $dims)" for (seed, stream, dims, expected) in (
        (1, 0, (3,), "efa5de8b65a8b108af0f22a81512fdcb7b976f7eaa50688be487c53f3424d4cd"),
        (1, 0, (2, 3), "567b8a655f799fb18d0594a5c1cdbbeaedcd53f8b501e5a9c3acba29d89d35fe"),
        (
            7,
            5,
            (4, 2, 3),
            "4c087a78686c2daec6aff712c33e03e6b9c0890a01b1c264e4bfbad19c82e082",
        ),
        (
            2^32 - 1,
            2^32 - 1,
            (5,),
            "556e46080b2dafa04384f477b55faf8c381ca49e7b2ae2330554626184544bcd",
        ),
        (0, 0, (), "e835cdf0edab63f50513be80b7c881111ce784d5df70869eaadbca7c6e331b9e"),
    )
    drawn = normals(seed, stream, dims)
    @test size(drawn) == dims
    @test array_sha256(drawn) == expected
end

@testset "normals are normal enough, and streams differ" begin
    drawn = normals(1, 0, (100_000,))
    @test abs(sum(drawn) / length(drawn)) < 0.02
    @test abs(sum(abs2, drawn) / length(drawn) - 1) < 0.02
    @test normals(1, 0, (8,)) != normals(1, 1, (8,))
    @test normals(1, 0, (8,)) != normals(2, 0, (8,))
    @test_throws ArgumentError normals(-1, 0, (2,))
    @test_throws ArgumentError normals(0, 2^32, (2,))
end

@testset "inputs($T, $n; seed=$seed)" for (T, n, seed, theta_sha, uobs_sha) in (
        (
            Float64,
            32,
            1,
            "2f8eaa8314b28759accd11333dfea9a97f59f082978fe2ae2d8649057c45d498",
            "f943011e7f8b5487f93d2d52a8dd05f76486ffbac2aec782e74e71c4630eb74a",
        ),
        (
            Float32,
            33,
            1,
            "d03a6dbb0399e4159062be4218c807f3585145a669283d0c0f16a6612faf8787",
            "1049032377b47d1a51e7f91bed632e01ec88dbf0c194c2703e7e951c36525b79",
        ),
        (
            Float64,
            64,
            3,
            "8fd0de45bca229de746724864debdd223c10759c051e96edf6f06cae8d4cd6d9",
            "3544c9ac91d13cff85a8eace891944d6e1c2d0f545e6d6cad29675fb77360b1c",
        ),
    )
    theta, uobs = inputs(T, n; seed)
    @test theta isa Matrix{T} && uobs isa Matrix{T}
    @test array_sha256(theta) == theta_sha
    @test array_sha256(uobs) == uobs_sha
end

@testset "the committed inputs are those of the notebooks" begin
    arrays = load_inputs()
    θ, uobs = arrays["theta"], arrays["uobs"]
    @test size(θ) == size(uobs) == (32, 32)
    @test θ[1, 1:2] == [-0.36335748145177754, 1.9207540740525255]
    @test θ[2, 1:2] == [0.2517372155742292, 0.8006488606751957]
    @test θ[1, 31:32] == [0.20732993930891253, 0.007365170012581141]
    @test θ[32, 31:32] == [0.5500269297887572, -0.25196386505341467]
    @test uobs[1, 1:2] == [-0.00019879962436752713, -0.00558994605387216]
    @test uobs[32, 1:2] == [-0.001636400736785318, -0.005467296315401388]
    @test ensure_inputs() == arrays
end

message(f) = try
    f()
    "nothing was thrown"
catch error
    error isa InputsError || rethrow()
    error.message
end

with_nan(array) = (bad = copy(array); bad[2, 3] = NaN; bad)

@testset "refused: $name" for (name, arrays, expected) in (
        ("missing", (; theta = zeros(32, 32)), "no dataset uobs (found: theta)"),
        (
            "shape",
            (; theta = zeros(32, 31), uobs = zeros(32, 32)),
            "theta has shape (32, 31), but 02-gauss-seidel needs (32, 32)",
        ),
        (
            "nan",
            (; theta = with_nan(zeros(32, 32)), uobs = zeros(32, 32)),
            "theta holds 1 NaN or Inf, the first at (2, 3)",
        ),
    )
    mktempdir() do folder
        path = write_arrays(joinpath(folder, "inputs.h5"), arrays)
        text = message(() -> load_inputs(; path))
        @test occursin(expected, text)
        @test !occursin('\n', text)
    end
end

@testset "a missing file is made from the seed" begin
    mktempdir() do folder
        path = joinpath(folder, "02-gauss-seidel", "inputs.h5")
        arrays = ensure_inputs(; path)
        @test isfile(path)
        @test (arrays["theta"], arrays["uobs"]) == inputs(Float64, 32; seed = 1)
        @test occursin(
            "cannot draw other",
            message(() -> ensure_inputs("other"; path = "$path.no")),
        )
    end
end

@testset "an example of the user's" begin
    mktempdir() do folder
        path = write_arrays(joinpath(folder, "inputs.h5"), (; w = [1.0, 2.0]))
        @test load_inputs("mine"; path) == Dict("w" => [1.0, 2.0])
        @test occursin(
            "needs (3,)",
            message(() -> load_inputs("mine"; path, shapes = Dict("w" => (3,)))),
        )
    end
end

end
