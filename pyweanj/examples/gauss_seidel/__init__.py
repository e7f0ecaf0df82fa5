"""The example ``02-gauss-seidel``."""
