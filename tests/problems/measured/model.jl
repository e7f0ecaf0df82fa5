function loss(p, t, y, good)
    total = zero(eltype(p))
    for i in eachindex(t)
        good[i] && (total += (p[1] * exp(-p[2] * t[i]) - y[i])^2)
    end
    return total
end
