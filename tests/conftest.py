"""What all tests share without asking for it."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no fault: no example has a time that it must keep.
settings.register_profile("benchbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("benchbook")
