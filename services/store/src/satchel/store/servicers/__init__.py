"""The store's doors, one for each gRPC service: decode, call, encode; nothing else."""
