function loss(a, v, K, M, B, t, y, k, used, times)
    total = zero(a)
    for i in axes(M, 1)
        used[i] || continue
        s = zero(a)
        for j in axes(M, 2)
            s += M[i, j] * v[j]
        end
        total += (exp(-a * t[i]) * s + B[k[i] + 1, 1] - y[i])^2
    end
    return K * times * total
end

# One array for each of `differentiate`, in that order.
function gradient(a, v, K, M, B, t, y, k, used, times)
    e = exp.(-a .* t)
    r = 2 .* K .* times .* used .* (e .* (M * v) .+ B[k .+ 1, 1] .- y)
    dB = zero(B)
    for i in eachindex(r)
        dB[k[i] + 1, 1] += r[i]
    end
    return dB, -sum(r .* e .* t .* (M * v)), (r .* e) * v', M' * (r .* e)
end
