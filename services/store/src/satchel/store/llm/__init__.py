"""What a language model is asked about a text, and what of its answer is taken. Pure.

Nothing that a model says is trusted: an answer is checked against the schema, and of it only those facts are
kept whose words stand in the text.
"""
