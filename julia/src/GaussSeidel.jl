"""
    WEANJ.GaussSeidel

The example `02-gauss-seidel`: misfit after `K` Gauss–Seidel sweeps for the Poisson problem.

`u` starts at 0 on an n × n grid with a halo of zeros, `h = 1 / (n + 1)`; one sweep updates
every point in place,

    u[i, j] ← (h² θ[i, j] + u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1]) / 4.

The loss is `Σ (u - uobs)²`, its gradient is taken with respect to `θ`.  `θ` and `uobs` are
n × n.
"""
module GaussSeidel

using Enzyme: Enzyme, Active, Const, Duplicated, Reverse
using KernelAbstractions: @Const, @index, @kernel, get_backend
using ..WEANJ: WEANJ

export gs_gradient, gs_loss, rb_gradient, rb_loops_loss, rb_loss, rb_terms!

function grid_size(θ, uobs)
    n = size(θ, 1)
    size(θ) == size(uobs) == (n, n) ||
        throw(DimensionMismatch("θ and uobs must be square and of one size"))
    return n
end

"""
    gs_loss(θ, uobs, K)

Loss after `K` lexicographic sweeps: i fastest, then j, so that each point uses the *new*
`u[i-1, j]` and `u[i, j-1]`.
"""
function gs_loss(θ::AbstractMatrix{T}, uobs, K) where {T}
    n = grid_size(θ, uobs)
    h2 = one(T) / (n + 1)^2
    u = zeros(T, n + 2, n + 2)
    for _ in 1:K, j in 2:(n + 1), i in 2:(n + 1)
        source = h2 * θ[i - 1, j - 1]
        u[i, j] = (source + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    end
    return misfit(u, uobs)
end

function misfit(u::AbstractMatrix{T}, uobs) where {T}
    loss = zero(T)
    for j in axes(uobs, 2), i in axes(uobs, 1)
        loss += (u[i + 1, j + 1] - uobs[i, j])^2
    end
    return loss
end

"""
    gs_gradient(θ, uobs, K)

Gradient of [`gs_loss`](@ref) with respect to `θ`.
"""
gs_gradient(θ::DenseMatrix, uobs::DenseMatrix, K) = reverse_gradient(gs_loss, θ, uobs, K)
gs_gradient(θ, uobs, K) = gs_gradient(WEANJ.dense(θ), WEANJ.dense(uobs), K)

function reverse_gradient(loss::F, θ, uobs, K) where {F}
    dθ = zero(θ)
    Enzyme.autodiff(Reverse, loss, Active, Duplicated(θ, dθ), Const(uobs), Const(K))
    return dθ
end

"""
    rb_loops_loss(θ, uobs, K)

Loss after `K` red-black sweeps, as plain loops on the host: all points with `i + j` even
(in the haloed grid, counted from 1), then all others.
"""
function rb_loops_loss(θ::AbstractMatrix{T}, uobs, K) where {T}
    n = grid_size(θ, uobs)
    h2 = one(T) / (n + 1)^2
    u = zeros(T, n + 2, n + 2)
    for _ in 1:K, colour in 0:1, j in 2:(n + 1), i in (2 + (j + colour) % 2):2:(n + 1)
        source = h2 * θ[i - 1, j - 1]
        u[i, j] = (source + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    end
    return misfit(u, uobs)
end

# Points of one colour read only the other colour, so all work items are independent.
@kernel function rb_half_sweep!(u, @Const(θ), colour)
    I = @index(Global, Cartesian)
    i, j = I[1] + 1, I[2] + 1
    h2 = one(eltype(u)) /
        (size(θ, 1) + 1)^2 # computed here: GPU kernels take no active scalars
    @inbounds if (i + j) % 2 == colour
        source = h2 * θ[i - 1, j - 1]
        u[i, j] = (source + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    end
end

@kernel function sqdiff!(e, @Const(u), @Const(uobs))
    I = @index(Global, Cartesian)
    @inbounds e[I] = (u[I[1] + 1, I[2] + 1] - uobs[I])^2
end

"""
    rb_terms!(e, u, θ, uobs, K)

Write the terms of the red-black loss to `e`, whose sum is the loss; `u`, with halo, is the
solution buffer.  Runs where the arrays live.
"""
function rb_terms!(e, u, θ, uobs, K)
    backend, n = get_backend(u), size(θ, 1)
    fill!(u, 0)
    for _ in 1:K, colour in (0, 1)
        rb_half_sweep!(backend)(u, θ, colour; ndrange = (n, n))
    end
    sqdiff!(backend)(e, u, uobs; ndrange = (n, n))
    return nothing
end

"""
    rb_loss(θ, uobs, K)

Loss after `K` red-black sweeps by KernelAbstractions kernels, on the CPU or a GPU: wherever
the arrays live.
"""
function rb_loss(θ, uobs, K)
    n = grid_size(θ, uobs)
    e, u = similar(θ), similar(θ, n + 2, n + 2)
    rb_terms!(e, u, θ, uobs, K)
    return sum(e)
end

"""
    rb_gradient(θ, uobs, K)

Gradient of [`rb_loss`](@ref) with respect to `θ`.  The solution buffer is scratch and gets a
shadow; the shadow of the loss terms starts at 1, since the loss is their sum.
"""
function rb_gradient(θ::DenseMatrix, uobs::DenseMatrix, K)
    n = grid_size(θ, uobs)
    e, de = similar(θ), fill!(similar(θ), 1)
    u, du = similar(θ, n + 2, n + 2), fill!(similar(θ, n + 2, n + 2), 0)
    dθ = fill!(similar(θ), 0)
    Enzyme.autodiff(
        Reverse,
        rb_terms!,
        Const,
        Duplicated(e, de),
        Duplicated(u, du),
        Duplicated(θ, dθ),
        Const(uobs),
        Const(K),
    )
    return dθ
end
rb_gradient(θ, uobs, K) = rb_gradient(WEANJ.dense(θ), WEANJ.dense(uobs), K)

end
