module TestGaussSeidel

using LinearAlgebra: dot, norm
using Printf: @sprintf
using Test: @test, @test_throws, @testset
using WEANJ: WEANJ, fd_check, inputs, load_inputs
using WEANJ.GaussSeidel: gs_gradient, gs_loss, rb_gradient, rb_loops_loss, rb_loss

loops_gradient(θ, uobs, K) = WEANJ.gradient(rb_loops_loss, θ, uobs, K)

const VARIANTS = (
    ("lexicographic", gs_loss, gs_gradient, "0.105860373742", "6.409859e-04"),
    ("red-black", rb_loss, rb_gradient, "0.105843754705", "6.366981e-04"),
    ("red-black loops", rb_loops_loss, loops_gradient, "0.105843754705", "6.366981e-04"),
)

@testset "$variant: the published figures" for (
        variant,
        loss,
        gradient,
        value,
        length,
    ) in VARIANTS
    arrays = load_inputs()
    θ, uobs = arrays["theta"], arrays["uobs"]
    before = copy(θ)
    @test @sprintf("%.12f", loss(θ, uobs, 20)) == value
    g = gradient(θ, uobs, 20)
    @test @sprintf("%.6e", norm(g)) == length
    @test fd_check(t -> loss(t, uobs, 20), θ, g) < 1.0e-7
    # Shadows start at zero each time, and the inputs are left alone.
    for _ in 1:2
        @test gradient(θ, uobs, 20) == g
    end
    @test θ == before
    # Forward mode on the same loss.
    v = first(inputs(Float64, 32; seed = 9))
    @test WEANJ.jvp(loss, θ, uobs, 20; tangents = v) ≈ dot(g, v) rtol = 1.0e-12
end

# The definition in the plainest form: a matrix that one sweep multiplies with.
function reference(θ, uobs, K, order)
    n = size(θ, 1)
    h = 1 / (n + 1)
    u = Dict((i, j) => 0.0 for i in 0:(n + 1), j in 0:(n + 1))
    for _ in 1:K, (i, j) in order(n)
        u[i, j] = (h^2 * θ[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) /
            4
    end
    return sum((u[i, j] - uobs[i, j])^2 for i in 1:n, j in 1:n)
end

lexicographic(n) = vec([(i, j) for i in 1:n, j in 1:n])
# Colours count in the haloed grid from 1, where point (i, j) is (i + 1, j + 1): same parity.
red_black(n) = sort(lexicographic(n); by = p -> isodd(sum(p)), alg = MergeSort)

@testset "n = $n, K = $K" for n in (1, 2, 5, 8), K in (0, 1, 3)
    θ, uobs = inputs(Float64, n; seed = n)
    @test gs_loss(θ, uobs, K) ≈ reference(θ, uobs, K, lexicographic) rtol = 1.0e-13
    @test rb_loss(θ, uobs, K) ≈ reference(θ, uobs, K, red_black) rtol = 1.0e-13
    @test rb_loops_loss(θ, uobs, K) ≈ rb_loss(θ, uobs, K) rtol = 1.0e-14
    @test iszero(gs_gradient(θ, uobs, K)) == (K == 0)
end

@testset "Float32 stays Float32" begin
    θ, uobs = inputs(Float32, 16)
    for (loss, gradient) in ((gs_loss, gs_gradient), (rb_loss, rb_gradient))
        @test loss(θ, uobs, 5) isa Float32
        g = gradient(θ, uobs, 5)
        @test g isa Matrix{Float32}
        @test g ≈ gradient(Float64.(θ), Float64.(uobs), 5) rtol = 1.0e-5
    end
end

@testset "other arrays are converted, wrong ones refused" begin
    θ, uobs = inputs(Float64, 6)
    for gradient in (gs_gradient, rb_gradient)
        @test gradient(permutedims(θ)', view(uobs, :, :), 4) == gradient(θ, uobs, 4)
    end
    for loss in (gs_loss, rb_loss, rb_loops_loss)
        @test_throws DimensionMismatch loss(θ, uobs[:, 1:5], 2)
        @test_throws DimensionMismatch loss(θ[1:5, :], uobs[1:5, :], 2)
    end
end

@testset "the transposed problem has the same loss and the transposed gradient" begin
    # Why equal losses prove nothing about layout.
    θ, uobs = inputs(Float64, 7)
    for (loss, gradient) in ((gs_loss, gs_gradient), (rb_loss, rb_gradient))
        @test loss(permutedims(θ), permutedims(uobs), 6) ≈ loss(θ, uobs, 6) rtol = 1.0e-13
        g = gradient(θ, uobs, 6)
        @test gradient(permutedims(θ), permutedims(uobs), 6) ≈ permutedims(g) rtol = 1.0e-12
        @test !isapprox(g, permutedims(g); rtol = 1.0e-3)
    end
end

end
