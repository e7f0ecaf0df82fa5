module TestGradients

using LinearAlgebra: LinearAlgebra, dot
using Test: @test, @test_logs, @test_throws, @testset
using WEANJ: WEANJ

# Two arrays, a number and a count; the gradients are known.
weighted(x, y, a, k) = k * a * sum(x .* x .* y)

# Σ (K θ)² by way of a buffer that it overwrites.
function buffered(θ, buffer, K)
    for k in eachindex(θ)
        buffer[k] = K * θ[k]
    end
    loss = zero(eltype(θ))
    for value in buffer
        loss += value^2
    end
    return loss
end

function mutating(θ)
    θ[1] = 2θ[1]
    return sum(abs2, θ)
end

constant_loss(θ) = 1.0

const x = [1.0 2.0 3.0; -1.0 0.5 4.0]
const y = [0.5 1.5 -1.0; 2.0 1.0 0.25]

@testset "several arguments, each with its shape and type" begin
    gx, gy, ga = WEANJ.gradient(weighted, x, y, 1.5, 2; wrt = (1, 2, 3))
    @test gx ≈ 6 .* x .* y rtol = 1.0e-14
    @test gy ≈ 3 .* x.^2 rtol = 1.0e-14
    @test ga ≈ 2 * sum(x.^2 .* y) rtol = 1.0e-14
    @test ga isa Float64
    @test WEANJ.gradient(weighted, x, y, 1.5, 2; wrt = 2) ≈ gy
    # One at a time and all together agree, in any order.
    @test WEANJ.gradient(weighted, x, y, 1.5, 2; wrt = (3, 1)) == (ga, gx)
    value, g = WEANJ.value_and_gradient(weighted, x, y, 1.5, 2)
    @test value == weighted(x, y, 1.5, 2)
    @test g == gx
    single = WEANJ.gradient(weighted, Float32.(x), Float32.(y), 1.5f0, 2)
    @test single isa Matrix{Float32}
    @test single ≈ gx rtol = 1.0e-6
end

@testset "nothing accumulates, nothing is changed" begin
    before = copy(x)
    first_time = WEANJ.gradient(weighted, x, y, 1.5, 2)
    for _ in 1:2
        @test WEANJ.gradient(weighted, x, y, 1.5, 2) == first_time
    end
    @test x == before
    # The same array in two places counts once in each.
    @test WEANJ.gradient(weighted, x, x, 1.5, 2) ≈ 6 .* x.^2 rtol = 1.0e-14
end

@testset "scratch" begin
    buffer = fill(7.0, size(x))
    @test WEANJ.gradient(buffered, x, buffer, 3; scratch = 2) ≈ 18 .* x rtol = 1.0e-14
    @test WEANJ.gradient(buffered, x, buffer, 3; scratch = (2,)) ≈ 18 .* x rtol = 1.0e-14
    @test all(==(7.0), buffer)
    # Not declared, it would be passed as Const and the gradient lost.
    @test_throws "the loss writes into argument 2; name it in `scratch`" WEANJ.gradient(
        buffered,
        x,
        buffer,
        3,
    )
    lost = WEANJ.gradient(buffered, x, buffer, 3; check = false)
    @test !(lost ≈ 18 .* x) # the control: without the check the wrong result is silent
end

@testset "a loss that writes into what it is differentiated by" begin
    @test_throws "the loss writes into argument 1; let the loss copy it" WEANJ.gradient(
        mutating,
        [1.0, 2.0],
    )
    @test WEANJ.gradient(mutating, [1.0, 2.0]; check = false) == [8.0, 4.0]
end

@testset "zero is a warning" begin
    @test_logs (:warn, r"exactly zero") match_mode = :any WEANJ.gradient(constant_loss, x)
end

# An array type that Enzyme has never seen, as Python's PyArray is one.
struct Foreign{T, N} <: AbstractArray{T, N}
    elements::Array{T, N}
end
Base.size(a::Foreign) = size(a.elements)
Base.getindex(a::Foreign, i::Int...) = a.elements[i...]
Base.setindex!(a::Foreign, v, i::Int...) = setindex!(a.elements, v, i...)

only_arrays(θ::Array) = sum(abs2, θ)

@testset "other arrays become an Array: $(nameof(typeof(array)))" for array in (
        Foreign(copy(x)),
        view([x; x], 1:2, :),
        permutedims(x)',
        PermutedDimsArray(permutedims(x), (2, 1)),
    )
    g = WEANJ.gradient(only_arrays, array)
    @test g isa Matrix{Float64}
    @test g == 2 .* x
    @test WEANJ.jvp(only_arrays, array; tangents = Foreign(copy(y))) ≈ dot(2 .* x, y)
end

# The loss is real, its argument is not.
complex_loss(z) = real(sum(z.^2))

@testset "complex: ∂L/∂x + i ∂L/∂y" begin
    z = [1.0 + 2.0im, -0.5 + 1.0im]
    # L = x² - y²: the conjugate of what JAX returns, 2 z.
    @test WEANJ.gradient(complex_loss, z) ≈ 2 .* conj.(z)
    v = [1.0im, 2.0 + 1.0im]
    @test WEANJ.jvp(complex_loss, z; tangents = v) ≈ real(dot(2 .* conj.(z), v))
end

@testset "refused: $why" for (why, call) in (
        ("integers cannot be differentiated", () -> WEANJ.gradient(sum, [1, 2])),
        ("nor Booleans", () -> WEANJ.gradient(weighted, x, y, true, 2; wrt = 3)),
        ("no such position", () -> WEANJ.gradient(sum, x; wrt = 2)),
        ("nothing to differentiate", () -> WEANJ.gradient(sum, x; wrt = ())),
        ("named twice", () -> WEANJ.gradient(buffered, x, y, 3; wrt = 2, scratch = 2)),
        ("scratch is a number", () -> WEANJ.gradient(weighted, x, y, 1.5, 2; scratch = 3)),
        ("the loss returns an array", () -> WEANJ.gradient(identity, x)),
        ("the loss returns nothing", () -> WEANJ.gradient(t -> nothing, x)),
        ("the loss is complex", () -> WEANJ.gradient(t -> 1im * sum(t), x)),
        (
            "tangents are too few",
            () -> WEANJ.jvp(weighted, x, y, 1.5, 2; wrt = (1, 2), tangents = (x,)),
        ),
        (
            "a tangent for a number is an array",
            () -> WEANJ.jvp(weighted, x, y, 1.5, 2; wrt = 3, tangents = x),
        ),
    )
    @test_throws ArgumentError call()
end

@testset "jvp" begin
    gx, gy, ga = WEANJ.gradient(weighted, x, y, 1.5, 2; wrt = (1, 2, 3))
    v, w = [0.3 -1.0 2.0; 1.0 1.0 0.5], [1.0 0.0 -2.0; 0.25 3.0 1.0]
    @test WEANJ.jvp(weighted, x, y, 1.5, 2; tangents = v) ≈ dot(gx, v) rtol = 1.0e-13
    @test WEANJ.jvp(weighted, x, y, 1.5, 2; wrt = 3, tangents = 2.0) ≈ 2ga rtol = 1.0e-13
    together = WEANJ.jvp(weighted, x, y, 1.5, 2; wrt = (1, 2, 3), tangents = (v, w, 0.5))
    @test together ≈ dot(gx, v) + dot(gy, w) + 0.5ga rtol = 1.0e-13
    @test WEANJ.jvp(buffered, x, zero(x), 3; scratch = 2, tangents = v) ≈ dot(18 .* x, v)
    @test_throws DimensionMismatch WEANJ.jvp(
        weighted,
        x,
        y,
        1.5,
        2;
        tangents = permutedims(v),
    )
end

end
