module TestTasks

using Test: @test, @test_throws, @testset
using WEANJ: with_large_stack

# No tail call: the sum needs the inner result.
@noinline depth(n) = n == 0 ? 1 : 1 + depth(n - 1) * (n > 0)

function fetch_plain(f)
    task = Task(f)
    schedule(task)
    try
        return fetch(task)
    catch error
        throw(error isa TaskFailedException ? error.task.exception : error)
    end
end

@testset "with_large_stack" begin
    @test with_large_stack(() -> 42) == 42
    # Deeper than a plain task with Julia's 4 MiB can go, at 28 bytes a frame and more.
    n = 150_000
    @test with_large_stack(() -> depth(n)) == n + 1
    @test_throws StackOverflowError fetch_plain(() -> depth(n))
    # Exceptions come out as they were thrown.
    @test_throws ErrorException("broken") with_large_stack(() -> error("broken"))
    @test_throws ArgumentError with_large_stack(() -> 1; bytes = 0)
    @test with_large_stack(() -> with_large_stack(() -> 1) + 1) == 2
end

end
