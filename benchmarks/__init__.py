"""A black-box benchmark of retrieval under a token budget; see README.md in this folder."""
