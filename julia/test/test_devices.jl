module TestDevices

using Test: @test, @test_throws, @testset
using WEANJ: WEANJ, CUDADevice, HostDevice, fd_check

@testset "the host" begin
    host = WEANJ.device("cpu")
    @test host isa HostDevice
    array = [1.0 2.0]
    @test WEANJ.transfer(host, array) === array
    @test WEANJ.synchronize(host) === nothing
    f() = zeros(1000)
    f()
    bytes = WEANJ.allocated(f, host)
    @test collect(keys(bytes)) == ["julia_allocated"]
    @test 8000 <= bytes["julia_allocated"] < 9000
end

@testset "a GPU needs CUDA.jl" begin
    loaded = any(id -> id.name == "CUDA", keys(Base.loaded_modules))
    if loaded
        @info "CUDA.jl is loaded; the refusal without it was not tested"
    else
        @test_throws "CUDA.jl is not loaded" WEANJ.device("gpu")
    end
    @test_throws "unknown device tpu" WEANJ.device("tpu")
end

# Stands in for CUDA.jl, so that what the extension plugs into is exercised here.
struct Remote{T, N} <: DenseArray{T, N}
    elements::Array{T, N}
end
Base.size(a::Remote) = size(a.elements)
Base.getindex(::Remote, ::Int...) = error("element-wise access from the host")
Base.Array(a::Remote) = copy(a.elements)
WEANJ.like(::Remote, array) = Remote(array)

@testset "arrays on a device are moved whole" begin
    θ = Remote([1.0 2.0; 3.0 4.0])
    loss(t::Remote) = sum(abs2, t.elements)
    @test fd_check(loss, θ, Remote([2.0 4.0; 6.0 8.0])) < 1.0e-12
    @test WEANJ.host(θ) == [1.0 2.0; 3.0 4.0]
end

@testset "the extension parses, and names only what WEANJ has" begin
    file = joinpath(pkgdir(WEANJ), "ext", "WEANJCUDAExt.jl")
    source = read(file, String)
    parsed = Meta.parseall(source)
    @test !any(e -> e isa Expr && e.head in (:error, :incomplete), parsed.args)
    names = unique(m.captures[1] for m in eachmatch(r"WEANJ\.(\w+!?)\(", source))
    @test length(names) >= 6
    for name in names
        @test isdefined(WEANJ, Symbol(name))
    end
end

end
