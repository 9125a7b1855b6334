"""The REST door: HTTP requests become RPCs by the annotations of the contract."""
