using PrecompileTools: @compile_workload, @setup_workload
