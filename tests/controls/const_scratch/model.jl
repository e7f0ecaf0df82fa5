# The misfit through a buffer that the caller gives, and its gradient with the buffer
# `Duplicated` (right) and `Const` (a silent zero).

using Enzyme: Enzyme, Active, Const, Duplicated, Reverse

function misfit!(buffer, theta, y)
    for i in eachindex(theta)
        buffer[i] = theta[i]^2 * sin(theta[i])
    end
    value = zero(eltype(theta))
    for i in eachindex(theta)
        value += (buffer[i] - y[i])^2
    end
    return value
end

loss(theta, y) = misfit!(similar(theta), theta, y)

function gradient_duplicated(theta, y)
    dtheta, buffer = zero(theta), zero(theta)
    shadow = Duplicated(buffer, zero(buffer))
    Enzyme.autodiff(Reverse, misfit!, Active, shadow, Duplicated(theta, dtheta), Const(y))
    return dtheta
end

function gradient_const(theta, y)
    dtheta = zero(theta)
    scratch = Const(zero(theta))
    Enzyme.autodiff(Reverse, misfit!, Active, scratch, Duplicated(theta, dtheta), Const(y))
    return dtheta
end
