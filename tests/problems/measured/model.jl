loss(p, t, y, good) = sum(
    good[i] * (p[1] * exp(-p[2] * t[i]) - y[i])^2
    for i in eachindex(t)
)
