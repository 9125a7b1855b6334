"""Events for other programs: who wants them, what waits, and when a failed one is tried again. Pure."""
