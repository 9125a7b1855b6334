"""The allocator recalls the most useful memories that fit in a token budget."""
