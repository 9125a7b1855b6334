"""The store's port on one SQLite file: one writer with group commit, several readers."""
