function loss(z, F, d)
    total = zero(real(eltype(z)))
    for i in axes(F, 1)
        s = zero(eltype(z))
        for j in axes(F, 2)
            s += F[i, j] * z[j]
        end
        total += abs2(s^2 - d[i])
    end
    return total
end
