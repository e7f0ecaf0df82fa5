"""What kind of wrong: the structure of the difference between a wrong gradient and a right one.

Each module holds finders for one family of faults.  A finder claims what was done to the right
gradient, and the residual says how much of the difference that claim leaves unexplained.
"""

from pyweanj.verify.diagnosis.context import Context, Finding, forward_mode_fits
from pyweanj.verify.diagnosis.search import diagnose

__all__ = ["Context", "Finding", "diagnose", "forward_mode_fits"]
