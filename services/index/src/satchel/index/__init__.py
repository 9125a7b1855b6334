"""The index is a nearest-neighbour view of the store, rebuilt from it at any time."""
