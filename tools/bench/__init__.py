"""Benchmarks with saved results; none of them judges, all of them print Markdown."""
