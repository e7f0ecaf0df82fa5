# Julia's lexicographic loss and gradient timed by hand with @elapsed; WEANJ only gives the
# functions, nothing of its timing.
#
# usage: julia --project=PROJECT by_hand.jl WEANJ_FOLDER INPUTS.H5 K
#
# Prints "ready", then for each line "forward CALLS" or "gradient CALLS" on stdin the seconds
# that the calls took together.

push!(LOAD_PATH, ARGS[1])
using HDF5
using WEANJ.GaussSeidel: gs_gradient, gs_loss

const K = parse(Int, ARGS[3])
# HDF5.jl sees the dimensions of a file in C order reversed.
const θ, uobs = h5open(ARGS[2]) do file
    permutedims(read(file["theta"])), permutedims(read(file["uobs"]))
end

repeated(f, calls) = @elapsed for _ in 1:calls
    Base.donotdelete(f(θ, uobs, K))
end

repeated(gs_loss, 1)
repeated(gs_gradient, 1)
println("ready")
flush(stdout)
for line in eachline(stdin)
    what, calls = split(line)
    seconds = repeated(what == "forward" ? gs_loss : gs_gradient, parse(Int, calls))
    println(seconds)
    flush(stdout)
end
