"""A thousand random right cases and a thousand random broken ones."""

RandomResult = random_broken = random_right = None
__all__ = []
