"""The embedder turns texts into vectors and keeps nothing."""
