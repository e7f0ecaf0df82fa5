using PrecompileTools: @compile_workload, @setup_workload
module Pre
using ..WEANJ.Enzyme, ..WEANJ.HDF5
const mods = Base.loaded_modules
for (id, m) in mods
    s = Symbol(id.name)
    isdefined(@__MODULE__, s) || Core.eval(@__MODULE__, :(const $s = $m))
end
n = 0; bad = 0
for line in eachline("/tmp/w/jl/all_pre.txt")
    try
        global n += Core.eval(@__MODULE__, Meta.parse(line))
    catch e
        global bad += 1
    end
end
println(Core.stderr, "precompiled ", n, " bad ", bad)
end
