"""Settings that every test of the project shares."""

import os

from hypothesis import HealthCheck, settings

# The same examples on every run, so that a run that passes passes again; `HYPOTHESIS_PROFILE=random pytest` explores,
# and what it finds is added to the test as an @example. How long an example takes is the machine's affair.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, **_UNTIMED)
settings.register_profile("random", print_blob=True, **_UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
