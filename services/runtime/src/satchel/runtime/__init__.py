"""Process plumbing that every Satchel service shares; it knows no domain nouns."""
