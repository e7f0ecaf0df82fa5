# u[i] = e[i] * u[i + 1], ascending, K times: in one buffer, and in two.

function in_place(e, u0, K)
    u = copy(u0)
    n = length(u)
    for _ in 1:K, i in 1:(n - 1)
        u[i] = e[i] * u[i + 1]
    end
    return sum(abs2, u)
end

function two_buffers(e, u0, K)
    old, new = copy(u0), copy(u0)
    for _ in 1:K
        for i in 1:(length(new) - 1)
            new[i] = e[i] * old[i + 1]
        end
        old, new = new, old
        new[end] = old[end]
    end
    loss = zero(eltype(old))
    for i in eachindex(old)
        loss += old[i]^2
    end
    return loss
end
