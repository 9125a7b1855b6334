"""Use cases of the store over its ports."""
