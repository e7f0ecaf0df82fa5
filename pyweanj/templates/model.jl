# NAME in Julia.  The gradient is Enzyme's.  Arrays have the shapes of example.py: A is n × 3.

function loss(w, A, b)
    total = zero(eltype(w))
    for i in axes(A, 1)
        s = zero(eltype(w))
        for j in axes(A, 2)
            s += A[i, j] * w[j]
        end
        total += (tanh(s) - b[i])^2
    end
    return total
end
