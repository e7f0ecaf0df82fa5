module TestWorker

using LinearAlgebra: dot, norm
using Test: @test, @test_throws, @testset
using WEANJ: WEANJ, array_sha256, inputs, read_arrays, write_arrays
using WEANJ.GaussSeidel: gs_gradient, gs_loss, rb_gradient, rb_loss
using WEANJ: Worker

const MODEL = """
using WEANJ.GaussSeidel: gs_loss, rb_gradient, rb_loss

# A matrix that is not square, a number, a count and an array of integers.
function scaled(x, a, k, K)
    loss = zero(eltype(x))
    for j in axes(x, 2), i in axes(x, 1)
        loss += (K * a * x[i, j] - k[i])^2
    end
    return loss
end

scaled_gradient(x, a, k, K) = (; a=sum(2 .* (K * a .* x .- k) .* K .* x), x=2 .* (K * a .* x .- k) .* K .* a)
too_few(x, a, k, K) = 2 .* (K * a .* x .- k) .* K .* a
wrong_shape(x, a, k, K) = (x[1:1, :], a)
not_real(x, a, k, K) = "text"
broken(x, a, k, K) = error("broken on purpose\\nsecond line")
"""

const DIRECTORY = mktempdir()
const MODEL_FILE = joinpath(DIRECTORY, "model.jl")
write(MODEL_FILE, MODEL)

const X = [1.0 2.0 3.0; -1.0 0.5 4.0]
const A = 1.5
const COUNTS = [2, 5]
const SCALED_FILE = write_arrays(
    joinpath(DIRECTORY, "scaled.h5"),
    (; x = X, a = fill(A), k = COUNTS),
)

prepare_scaled(
    loss;
    gradient = nothing,
    dtype = "float64",
    model = MODEL_FILE,
    path = SCALED_FILE,
    wrt = ("x", "a"),
) = Worker.prepare(model, loss, gradient, ("x", "a", "k", "K"), wrt, 3, dtype, path, "cpu")

function prepare_grid(loss, gradient, n, K; T = Float64)
    theta, uobs = inputs(T, n)
    path = write_arrays(joinpath(DIRECTORY, "grid_$(n)_$T.h5"), (; theta, uobs))
    dtype = lowercase(string(T))
    return Worker.prepare(
        MODEL_FILE,
        loss,
        gradient,
        ("theta", "uobs", "K"),
        ("theta",),
        K,
        dtype,
        path,
        "cpu",
    )
end

residual = 2 .* (3 * A .* X .- COUNTS) .* 3
const GX, GA = residual .* A, sum(residual .* X)

@testset "a user's loss: $(something(gradient, "reverse mode"))" for gradient in (
        nothing,
        "scaled_gradient",
    )
    it = prepare_scaled("scaled"; gradient)
    @test Worker.input_sha256(it) ==
        Dict(
            "x" => array_sha256(X),
            "a" => array_sha256(fill(A)),
            "k" => array_sha256(COUNTS),
        )
    path = joinpath(DIRECTORY, "gradient.h5")
    value = Worker.evaluate(it, path, "mine")
    @test value ≈ sum((3 * A .* X .- COUNTS).^2) rtol = 1.0e-14
    gradients = read_arrays(path)
    @test keys(gradients) == Set(("x", "a"))
    @test gradients["x"] ≈ GX rtol = 1.0e-13
    @test gradients["a"][] ≈ GA rtol = 1.0e-13
    @test ndims(gradients["a"]) == 0
    # A second time gives the same: nothing has accumulated.
    Worker.evaluate(it, path, "mine")
    @test read_arrays(path) == gradients
    @test Worker.input_sha256(it)["x"] == array_sha256(X)

    # Directions: one entry, counted from 0, and arrays in a file.
    @test Worker.jvp(it, ("x", (1, 2))) ≈ GX[2, 3] rtol = 1.0e-13
    @test Worker.jvp(it, ("a", ())) ≈ GA rtol = 1.0e-13
    v = (; x = [0.5 -1.0 2.0; 0.0 1.0 3.0], a = fill(0.25))
    file = write_arrays(joinpath(DIRECTORY, "direction.h5"), v)
    @test Worker.jvp(it, file) ≈ dot(GX, v.x) + 0.25GA rtol = 1.0e-13
    steps = (-0.5, 0.0, 0.5)
    expected = [sum((3 * (A + 0.25s) .* (X .+ s .* v.x) .- COUNTS).^2) for s in steps]
    @test Worker.losses(it, file, steps) ≈ expected rtol = 1.0e-13
    @test Worker.losses(it, ("x", (1, 2)), (0.0, 0.5))[1] == value
    up, down = Worker.losses(it, ("x", (1, 2)), (1.0e-2, -1.0e-2))
    @test (up - down) / 2.0e-2 ≈ GX[2, 3] rtol = 1.0e-10

    @test Set(keys(it.phases)) == Set(("model_s", "first_call_s", "compile_s"))
    @test 0 < it.phases["compile_s"] <= it.phases["first_call_s"]
    for what in ("forward", "gradient")
        @test Worker.sample(it, what, 3) > 0
        @test Worker.memory(it, what)["julia_allocated"] >= 0
        @test Worker.caller(it, what)() === nothing
    end
    @test_throws ArgumentError Worker.sample(it, "backward", 1)
end

@testset "02-gauss-seidel: $loss in $T" for (loss, gradient, f, g) in (
        ("gs_loss", nothing, gs_loss, gs_gradient),
        ("rb_loss", "rb_gradient", rb_loss, rb_gradient),
    ), T in (Float64, Float32)

    it = prepare_grid(loss, gradient, 12, 5; T)
    theta, uobs = inputs(T, 12)
    path = joinpath(DIRECTORY, "g.h5")
    @test Worker.evaluate(it, path, "02-gauss-seidel") == f(theta, uobs, 5)
    @test read_arrays(path) == Dict("theta" => g(theta, uobs, 5))
    v = T.(first(inputs(Float64, 12; seed = 4)))
    file = write_arrays(joinpath(DIRECTORY, "v.h5"), (; theta = v))
    tolerance = T == Float64 ? 1.0e-12 : 1.0e-4
    @test Worker.jvp(it, file) ≈ dot(g(theta, uobs, 5), v) rtol = tolerance
    # Losses are computed in the dtype that was asked for.
    @test Worker.losses(it, ("theta", (0, 3)), (0.25,))[1] ==
        f((t = copy(theta); t[1, 4] += T(0.25); t), uobs, 5)
end

@testset "calls are made as often as asked, and all of them are timed" begin
    counting = joinpath(DIRECTORY, "counting.jl")
    write(
        counting,
        """
        const CALLS = Ref(0)
        loss(x) = (CALLS[] += 1; sum(abs2, x))
        gradient(x) = (sleep(0.01); 2 .* x)
        """,
    )
    path = write_arrays(joinpath(DIRECTORY, "x.h5"), (; x = X))
    it = Worker.prepare(
        counting,
        "loss",
        "gradient",
        ("x",),
        ("x",),
        0,
        "float64",
        path,
        "cpu",
    )
    calls = parentmodule(it.loss).CALLS
    before = calls[]
    Worker.sample(it, "forward", 7)
    @test calls[] - before == 7
    @test Worker.sample(it, "gradient", 3) >= 0.03
    # The same file again is the same module: compiled code is kept.
    again = Worker.prepare(
        counting,
        "loss",
        "gradient",
        ("x",),
        ("x",),
        0,
        "float64",
        path,
        "cpu",
    )
    @test again.loss === it.loss
    # Changed, it is loaded anew.
    write(counting, "loss(x) = 3 * sum(abs2, x)")
    changed = Worker.prepare(
        counting,
        "loss",
        nothing,
        ("x",),
        ("x",),
        0,
        "float64",
        path,
        "cpu",
    )
    @test Worker.evaluate(changed, joinpath(DIRECTORY, "c.h5"), "mine") == 3 * sum(abs2, X)
end

@testset "sampled calls are not dispatched dynamically" begin
    it = prepare_grid("gs_loss", nothing, 8, 2)
    for f in (it.loss, it.gradient)
        inferred = only(Base.return_types(f, map(typeof, it.args)))
        @test isconcretetype(inferred)
    end
end

write(joinpath(DIRECTORY, "syntax.jl"), "f(x) = (\n")
write(joinpath(DIRECTORY, "raises.jl"), "x = 1\nerror(\"no luck\")\n")
write_arrays(
    joinpath(DIRECTORY, "single.h5"),
    (; x = Float32.(X), a = fill(1.5f0), k = COUNTS),
)
write_arrays(joinpath(DIRECTORY, "part.h5"), (; x = X, a = fill(A)))

@testset "refused: $why" for (why, call, kind, expected) in (
        (
            "no model",
            () -> prepare_scaled("scaled"; model = "$MODEL_FILE.no"),
            "UnsupportedError",
            "has no model.jl.no",
        ),
        (
            "no loss",
            () -> prepare_scaled("missing"),
            "UnsupportedError",
            "no function missing (found: broken, ",
        ),
        (
            "no gradient",
            () -> prepare_scaled("scaled"; gradient = "g"),
            "UnsupportedError",
            "no function g",
        ),
        (
            "syntax",
            () -> prepare_scaled("f"; model = joinpath(DIRECTORY, "syntax.jl")),
            "CompileError",
            "syntax.jl:",
        ),
        (
            "raises",
            () -> prepare_scaled("f"; model = joinpath(DIRECTORY, "raises.jl")),
            "CompileError",
            "no luck (raises.jl:2)",
        ),
        (
            "loss raises",
            () -> prepare_scaled("broken"),
            "CompileError",
            "broken on purpose",
        ),
        (
            "loss is text",
            () -> prepare_scaled("not_real"),
            "CompileError",
            "the loss returns String",
        ),
        (
            "one gradient for two",
            () -> prepare_scaled("scaled"; gradient = "too_few"),
            "CompileError",
            "1 gradients for 2 arrays",
        ),
        (
            "gradient's shape",
            () -> prepare_scaled("scaled"; gradient = "wrong_shape"),
            "CompileError",
            "size (1, 3) for x of size (2, 3)",
        ),
        (
            "dtype",
            () -> prepare_scaled("scaled"; path = joinpath(DIRECTORY, "single.h5")),
            "InputsError",
            "x is float32, but float64 was asked for",
        ),
        (
            "no dataset",
            () -> prepare_scaled("scaled"; path = joinpath(DIRECTORY, "part.h5")),
            "InputsError",
            "no dataset k",
        ),
        (
            "integers",
            () -> prepare_scaled("scaled"; wrt = ("k",)),
            "UnsupportedError",
            "k is no floating-point array",
        ),
        (
            "unknown name",
            () -> prepare_scaled("scaled"; wrt = ("z",)),
            "UnsupportedError",
            "z is no argument",
        ),
    )
    error = try
        call()
        nothing
    catch thrown
        thrown
    end
    @test error !== nothing
    found, line = Worker.describe(error)
    @test found == kind
    @test occursin(expected, line)
    @test !occursin('\n', line)
end

@testset "versions and settings" begin
    versions = Worker.versions()
    @test versions["Julia"] == string(VERSION)
    for name in (
            "Enzyme",
            "Enzyme_jll",
            "EnzymeCore",
            "KernelAbstractions",
            "HDF5",
            "libhdf5",
            "WEANJ",
        )
        @test occursin(r"^\d+\.\d+", versions[name])
    end
    settings = Worker.settings()
    @test settings["threads"] == Threads.nthreads()
    @test settings["check_bounds"] in ("auto", "yes", "no")
end

end
