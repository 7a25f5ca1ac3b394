"""Settings that must stand before scipy is imported: its array API, so that no check of scikit-learn is skipped."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
