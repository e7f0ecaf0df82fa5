import jax
import jax.numpy as jnp


def field(u, p):
    x, y = u
    return jnp.stack([p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y])


def step(u, p, h):
    a = field(u, p)
    b = field(u + h / 2 * a, p)
    c = field(u + h / 2 * b, p)
    d = field(u + h * c, p)
    return u + h / 6 * (a + 2 * b + 2 * c + d)


def misfit(p, start, interval, observed, K):
    def advance(u, seen):
        u, _ = jax.lax.scan(lambda v, _: (step(v, p, interval / K), None), u, length=K)
        return u, jnp.sum((u - seen) ** 2)

    _, misfits = jax.lax.scan(advance, start, observed.T)
    return jnp.sum(misfits)
