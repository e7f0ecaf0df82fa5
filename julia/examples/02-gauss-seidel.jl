# 02. Gauss–Seidel: the notebook's lines, from the package and without Python.
#
#     julia --project=julia julia/examples/02-gauss-seidel.jl [--timing] [--gpu]
#
# prints loss, gradient norm and finite-difference error of both variants on the shared
# inputs and keeps the gradients under results/.  --timing adds the sweep over n, --gpu runs
# red-black on an NVIDIA GPU as well (needs CUDA.jl in the project).

using Printf: @printf
using WEANJ
using WEANJ.GaussSeidel: gs_gradient, gs_loss, rb_gradient, rb_loss

const EXAMPLE, K_CHECK = "02-gauss-seidel", 20

const ON_GPU = "--gpu" in ARGS
ON_GPU && @eval using CUDA

norm2(g) = sqrt(sum(abs2, g))

function check()
    d = ensure_inputs(EXAMPLE)
    θ0, uobs0 = d["theta"], d["uobs"]
    g_lex = gs_gradient(θ0, uobs0, K_CHECK)
    @printf "loss = %.12f   ‖∇loss‖ = %.6e\n" gs_loss(θ0, uobs0, K_CHECK) norm2(g_lex)
    g_rb = rb_gradient(θ0, uobs0, K_CHECK)
    @printf "loss = %.12f   ‖∇loss‖ = %.6e" rb_loss(θ0, uobs0, K_CHECK) norm2(g_rb)
    if ON_GPU
        g_gpu = Array(rb_gradient(CuArray(θ0), CuArray(uobs0), K_CHECK))
        difference = maximum(abs, g_gpu - g_rb) / maximum(abs, g_rb)
        @printf "   GPU vs CPU: %.1e" difference
        @assert difference <= 1.0e-12
    end
    println()

    # The loss is quadratic in θ, so a large finite-difference step is exact up to rounding.
    e1 = fd_check(t -> gs_loss(t, uobs0, K_CHECK), θ0, g_lex; n = 10, h = 1.0e-2)
    e2 = fd_check(t -> rb_loss(t, uobs0, K_CHECK), θ0, g_rb; n = 10, h = 1.0e-2)
    @printf "finite differences: lexicographic %.1e, red-black %.1e\n" e1 e2
    save_gradient(EXAMPLE, "enzyme-lex", g_lex)
    save_gradient(EXAMPLE, "enzyme-rb", g_rb)
    return nothing
end

function sweep(
    variant,
    loss,
    gradient;
    prep = identity,
    sync = identity,
    allocated,
    K = 100,
)
    budget_s = 5.0 # stop once one gradient takes longer than this
    records = []
    for (k, n) in enumerate((32, 64, 128, 256, 512, 1024))
        θ, uobs = prep.(inputs(Float64, n))
        compile_s = k == 1 ? @elapsed(sync(gradient(θ, uobs, K))) : nothing
        samples = n >= 512 ? 3 : 10
        forward_s = time_median(() -> loss(θ, uobs, K); sync, samples)
        grad_s = time_median(() -> gradient(θ, uobs, K); sync, samples)
        peak_mem_bytes = allocated(() -> gradient(θ, uobs, K))
        push!(
            records,
            (;
                dtype = "Float64",
                variant,
                N = n^2,
                n,
                K,
                forward_s,
                grad_s,
                compile_s,
                peak_mem_bytes,
            ),
        )
        grad_s > budget_s && break
    end
    return records
end

function timing()
    on_host(f) = @allocated f()
    cpu = vcat(
        sweep("lexicographic", gs_loss, gs_gradient; allocated = on_host),
        sweep("red-black", rb_loss, rb_gradient; allocated = on_host),
    )
    # Gradient memory against the number of sweeps K, at n = 256.
    θ, uobs = inputs(Float64, 256)
    for K in (10, 100, 1000)
        peak_mem_bytes = @allocated gs_gradient(θ, uobs, K)
        push!(
            cpu,
            (;
                dtype = "Float64",
                variant = "lexicographic",
                N = 256^2,
                n = 256,
                K,
                forward_s = nothing,
                grad_s = nothing,
                compile_s = nothing,
                peak_mem_bytes,
            ),
        )
    end
    results = [("cpu", cpu)]
    if ON_GPU
        device = WEANJ.device("gpu")
        gpu = sweep(
            "red-black",
            rb_loss,
            rb_gradient;
            prep = CuArray,
            sync = _ -> WEANJ.synchronize(device),
            allocated = f -> WEANJ.allocated(f, device)["cuda_allocated"],
        )
        push!(results, ("gpu", gpu))
    end
    for (device, records) in results
        write_results(EXAMPLE, "enzyme", device, records)
        for r in records
            r.grad_s === nothing && continue
            @printf "%s %-13s n=%-5d forward %9.3f ms  gradient %9.3f ms  memory %8.2f MiB\n" device r.variant r.n 1.0e3r.forward_s 1.0e3r.grad_s r.peak_mem_bytes /
                2^20
        end
    end
end

check()
"--timing" in ARGS && timing()
