"""HTTP that the doors share: bodies, answers, refusals, and who may ask."""
