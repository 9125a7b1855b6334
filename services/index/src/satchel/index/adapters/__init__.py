"""Adapters join the index to FAISS, to the store's stubs and to files."""
