module TestResults

using Test: @test, @testset
using WEANJ: WEANJ, read_arrays, save_gradient, write_results

@testset "save_gradient" begin
    mktempdir() do folder
        g = [1.0 2.0 3.0; 4.0 5.0 6.0]
        path = save_gradient("ex", "enzyme-lex", g; folder)
        @test path == joinpath(folder, "gradients", "enzyme-lex.h5")
        @test read_arrays(path) == Dict("gradient" => g)
        path = save_gradient("ex", "two", (; w = g, b = 0.5); folder)
        @test read_arrays(path) == Dict("w" => g, "b" => fill(0.5))
    end
end

text(value) = sprint(WEANJ.json, value)

@testset "JSON of $(repr(value))" for (value, expected) in (
        (nothing, "null"),
        (missing, "null"),
        (true, "true"),
        (12, "12"),
        (1.5f0, "1.5"),
        (1.0e-7, "1.0e-7"),
        (NaN, "\"NaN\""),
        (-Inf, "\"-Infinity\""),
        ("a\"b\\c\n", "\"a\\\"b\\\\c\\u000a\""),
        (:red, "\"red\""),
        ((1, "x"), "[1, \"x\"]"),
        ((; n = 1, s = nothing), "{\"n\": 1, \"s\": null}"),
    )
    @test text(value) == expected
end

@testset "write_results" begin
    mktempdir() do folder
        records = [
            (; dtype = "Float64", n = 32, grad_s = 1.0e-3),
            (; dtype = "Float64", n = 64, grad_s = nothing),
        ]
        path = write_results("ex", "enzyme", "cpu", records; folder)
        @test path == joinpath(folder, "enzyme-cpu.json")
        @test read(path, String) ==
            """
        {"example": "ex", "system": "enzyme", "device": "cpu", "records": [
         {"dtype": "Float64", "n": 32, "grad_s": 0.001},
         {"dtype": "Float64", "n": 64, "grad_s": null}
        ]}
        """
        @test readdir(folder) == ["enzyme-cpu.json"]
        path = write_results("ex", "enzyme", "cpu", []; folder)
        @test occursin("\"records\": [\n]}", read(path, String))
    end
end

end
