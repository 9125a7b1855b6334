# The commands of this repository; `just --list` names them. All of them work without a network once installed.

# Everything that must hold before a change is merged.
check: format lint types imports proto current test

# Formatting, checked and not changed.
format:
    ruff format --check .

# Style and likely mistakes.
lint:
    ruff check .

# Types, strictly, tests included.
types:
    mypy services gateway clients/python tools benchmarks tests

# Which package may import which.
imports:
    lint-imports

# The contracts: formatting, style, and nothing that would break a client of the last release.
proto:
    buf format proto --diff --exit-code --path proto/satchel
    python tools/generate.py --image build/contract.binpb
    buf lint build/contract.binpb --config buf.yaml
    buf breaking build/contract.binpb --against proto/released.binpb --config buf.yaml

# Whether the generated files are the ones that the contracts give.
current:
    python tools/generate.py --check
    python tools/documents.py --check

# All tests.
test *ARGS:
    python -m pytest {{ARGS}}

# Writes the stubs, the descriptor set and the generated pages of docs/.
gen:
    python tools/generate.py
    python tools/documents.py

# Writes the stubs of the clients in Go and TypeScript; needs Go and Node.
clients:
    npm ci --prefix clients/typescript --no-audit --no-fund
    python tools/generate.py --image build/contract.binpb
    buf generate
    python clients/typescript/foreign.py build/foreign.binpb
    buf generate --template clients/typescript/foreign.gen.yaml

# Formats and mends what can be mended.
fix:
    ruff check --fix .
    ruff format .
    buf format proto --write --path proto/satchel

# Pins the dependencies anew, with hashes.
lock:
    uv pip compile pyproject.toml --universal --generate-hashes --no-annotate --no-header --upgrade -o requirements/runtime.txt
    uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-annotate --no-header -c requirements/runtime.txt -o requirements/dev.txt
    printf 'grpcio\nprotobuf\ngoogleapis-common-protos\n' | uv pip compile - --universal --generate-hashes --no-annotate --no-header -c requirements/runtime.txt -o clients/python/requirements.txt

# Declares the contracts of this commit the ones that later ones may not break.
release-contract:
    python tools/generate.py --image proto/released.binpb
