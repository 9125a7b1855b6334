"""The store holds the truth: memories, passages, full text, links and the change feed."""
