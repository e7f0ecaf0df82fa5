module TestChecks

using Test: @test, @test_throws, @testset
using WEANJ: fd_check, time_median

@testset "fd_check" begin
    A = [2.0 1.0 0.5; 0.25 3.0 1.5]
    loss(θ) = sum(A .* θ.^2)
    θ = [1.0 -2.0 3.0; 0.5 4.0 -1.0]
    g = 2 .* A .* θ
    before = copy(θ)
    @test fd_check(loss, θ, g) < 1.0e-12
    @test θ == before
    # Each of these is wrong somewhere and must be seen.
    @test fd_check(loss, θ, 2g) > 0.1
    @test fd_check(loss, θ, -g) > 1
    @test fd_check(loss, θ, circshift(g, (0, 1))) > 0.1
    @test fd_check(loss, θ, zero(g)) == Inf
    @test fd_check(t -> 1.0, θ, zero(g)) == 0
    @test isnan(fd_check(loss, θ, g .+ NaN))
    @test_throws DimensionMismatch fd_check(loss, θ, permutedims(g))
    @test_throws ArgumentError fd_check(loss, θ, g; n = 0)
    @test_throws ArgumentError fd_check(loss, θ, g; h = 0.0)
    # A third derivative shows in proportion to h².
    cubic(θ) = sum(θ.^3)
    errors = [fd_check(cubic, θ, 3 .* θ.^2; h) for h in (1.0e-1, 1.0e-2)]
    @test 80 < errors[1] / errors[2] < 120
    # Single precision has its own rounding, and the step that was really made counts.
    @test fd_check(t -> sum(abs2, t), Float32.(θ), Float32.(2 .* θ)) < 1.0e-3
end

@testset "time_median" begin
    calls, waits = Ref(0), Ref(0)
    sync(x) = (waits[] += 1; x)
    seconds = time_median(() -> (calls[] += 1; sleep(0.01)); sync, samples = 3)
    @test calls[] == waits[] == 4 # one is not counted
    @test seconds >= 0.01
    # The time that `sync` waits is counted.
    @test time_median(() -> nothing; sync = _ -> sleep(0.01), samples = 3) >= 0.01
    @test_throws ArgumentError time_median(() -> nothing; samples = 0)
end

end
