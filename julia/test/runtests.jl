# julia --project=julia julia/test/runtests.jl [FILE …]
#
# Without arguments every file; with arguments those whose names contain one of them.

using Test: @testset

const FILES = (
    "package",
    "layout",
    "inputs",
    "results",
    "checks",
    "tasks",
    "gradients",
    "gauss_seidel",
    "devices",
    "worker",
)

@testset "WEANJ" begin
    @testset "$name" for name in FILES
        if isempty(ARGS) || any(wanted -> occursin(wanted, name), ARGS)
            include("test_$name.jl")
        end
    end
end
