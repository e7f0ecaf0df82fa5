# Where arrays live and work is done.  The methods for a GPU come with CUDA.jl, from the
# extension.

abstract type Device end

"The processor and its memory."
struct HostDevice <: Device end

"An NVIDIA GPU through CUDA.jl."
struct CUDADevice <: Device end

"""
    WEANJ.device(name) -> Device

The device called `name`: `"cpu"` or `"gpu"`.  Throws an `ArgumentError` that says what is
missing where it cannot be used.
"""
function device(name::AbstractString)
    name == "cpu" && return HostDevice()
    name == "gpu" || throw(ArgumentError("unknown device $name: cpu or gpu"))
    obstacle = why_not(CUDADevice())
    obstacle === nothing || throw(ArgumentError(obstacle))
    return CUDADevice()
end

# Nothing where the device can be used, else one line that says what is missing.
why_not(::HostDevice) = nothing
why_not(::Device) = "CUDA.jl is not loaded: `using CUDA` before the GPU is asked for"

"""
    WEANJ.transfer(device, x)

`x` on `device`: arrays are moved with their element type, anything else stays as it is.
"""
transfer(::Device, x) = x

"""
    WEANJ.synchronize(device)

Return when the device has finished all that it was given.
"""
synchronize(::HostDevice) = nothing

"""
    WEANJ.allocated(f, device) -> Dict{String,Int}

Bytes that one call of `f` allocates, by kind: `julia_allocated` on the host, and
`cuda_allocated` on a GPU.  Freed bytes count too.
"""
allocated(f::F, ::HostDevice) where {F} = Dict("julia_allocated" => Int(@allocated f()))
