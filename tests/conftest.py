"""Settings for all tests."""

import os

# Before scipy is imported: its array API, so that no check of scikit-learn is skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import HealthCheck, settings

# How fast examples come says something of the machine, nothing of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
