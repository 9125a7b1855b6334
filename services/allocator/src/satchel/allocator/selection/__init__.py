"""The interchangeable ways to choose memories for a budget."""
