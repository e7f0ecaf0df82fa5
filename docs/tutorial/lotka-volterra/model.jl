field(x, y, p) = (p[1] * x - p[2] * x * y, p[3] * x * y - p[4] * y)

function rk4(x, y, p, h)
    a = field(x, y, p)
    b = field(x + h / 2 * a[1], y + h / 2 * a[2], p)
    c = field(x + h / 2 * b[1], y + h / 2 * b[2], p)
    d = field(x + h * c[1], y + h * c[2], p)
    return (
        x + h / 6 * (a[1] + 2b[1] + 2c[1] + d[1]),
        y + h / 6 * (a[2] + 2b[2] + 2c[2] + d[2]),
    )
end

# `observed` is 2 × n here too: the dimensions are those of example.py.
function misfit(p, start, interval, observed, K)
    x, y = start[1], start[2]
    total = zero(x)
    for t in axes(observed, 2)
        for _ in 1:K
            x, y = rk4(x, y, p, interval / K)
        end
        total += (x - observed[1, t])^2 + (y - observed[2, t])^2
    end
    return total
end
