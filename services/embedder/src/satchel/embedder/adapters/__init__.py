"""Models and tokenizers that the embedder can run."""
