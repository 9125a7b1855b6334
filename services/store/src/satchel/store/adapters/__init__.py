"""Adapters of the store's ports to SQLite and to the embedder's contract."""
