"""One JAX loss and its gradient timed by hand: jit, block_until_ready, timeit; no pyweanj.

usage: by_hand.py MODEL.PY LOSS INPUTS.H5 K [CORES]

Prints ``ready``, then for each line ``forward CALLS`` or ``gradient CALLS`` on stdin the
seconds that the calls took together.
"""

import importlib.util
import os
import sys
import timeit

model, function, inputs, K = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
if len(sys.argv) > 5 and sys.argv[5]:
    # As with taskset, before JAX sizes its thread pool.
    os.sched_setaffinity(0, {int(core) for core in sys.argv[5].split(",")})

import h5py  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)
spec = importlib.util.spec_from_file_location("model", model)
assert spec is not None
assert spec.loader is not None
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
with h5py.File(inputs) as file:
    theta, uobs = (jnp.asarray(np.asarray(file[name])) for name in ("theta", "uobs"))

loss = getattr(module, function)
functions = {
    "forward": jax.jit(loss, static_argnums=2),
    "gradient": jax.jit(jax.grad(loss), static_argnums=2),
}
for f in functions.values():
    jax.block_until_ready(f(theta, uobs, K))
print("ready", flush=True)
for line in sys.stdin:
    what, calls = line.split()
    f = functions[what]
    seconds = timeit.timeit(lambda: jax.block_until_ready(f(theta, uobs, K)), number=int(calls))  # noqa: B023
    print(seconds, flush=True)
