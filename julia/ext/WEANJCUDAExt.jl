"""
What WEANJ needs of a GPU: moving arrays, waiting for the device, counting its bytes.
"""
module WEANJCUDAExt

using CUDA: CUDA, CuArray
using WEANJ: WEANJ, CUDADevice

function __init__()
    # An element-wise access from the host is a mistake here, never a fallback.
    CUDA.functional() && CUDA.allowscalar(false)
    return nothing
end

function WEANJ.why_not(::CUDADevice)
    CUDA.functional() && return nothing
    return "CUDA.jl finds no usable GPU: `CUDA.versioninfo()` says why"
end

# Not `cu`, which makes Float32.
WEANJ.transfer(::CUDADevice, array::AbstractArray) = CuArray(array)
WEANJ.own(array::CuArray) = copy(array)
WEANJ.like(::CuArray, array) = CuArray(array)

WEANJ.synchronize(::CUDADevice) = CUDA.synchronize()

function WEANJ.allocated(f::F, ::CUDADevice) where {F}
    on_host = @allocated begin
        f()
        CUDA.synchronize()
    end
    on_device = CUDA.@allocated begin
        f()
        CUDA.synchronize()
    end
    return Dict("julia_allocated" => Int(on_host), "cuda_allocated" => Int(on_device))
end

end
