"""Generate the Python stubs and the descriptor set from ``proto/``; needs no network.

Run ``python tools/generate.py`` to write them, ``--check`` to fail when the
committed files differ from what would be written.
"""

import argparse
import filecmp
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import google.api
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
STUBS = PROTO / "python" / "src"
DESCRIPTORS = Path("satchel/api/descriptors.binpb")


def includes() -> list[str]:
    """Return the import paths: ours, the well-known types, and ``google.api``."""
    common = Path(next(iter(google.api.__path__))).parent.parent
    return [f"-I{PROTO}", f"-I{files('grpc_tools') / '_proto'}", f"-I{common}"]


def sources() -> list[str]:
    """Return every contract file, sorted."""
    return sorted(str(path) for path in (PROTO / "satchel").rglob("*.proto"))


def write_image(target: Path) -> None:
    """Write the descriptor set with comments and imports, from which doors are derived."""
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = ["--include_source_info", "--include_imports", f"--descriptor_set_out={target}"]
    run([*includes(), *flags, *sources()])


def write_all(target: Path) -> None:
    """Write stubs, typing stubs and the descriptor set below ``target``."""
    scripts = Path(sysconfig.get_path("scripts"))
    plugins = [
        f"--plugin=protoc-gen-{name}={scripts / f'protoc-gen-{name}'}" for name in ("mypy", "mypy_grpc")
    ]
    outputs = ["python", "grpc_python", "mypy", "mypy_grpc"]
    run([*includes(), *plugins, *(f"--{name}_out={target}" for name in outputs), *sources()])
    write_image(target / DESCRIPTORS)


def run(arguments: list[str]) -> None:
    """Run protoc, and stop the program when it fails."""
    if protoc.main(["protoc", *arguments]) != 0:
        sys.exit("protoc failed")


def generated(root: Path) -> Iterator[Path]:
    """Yield the generated files below ``root``, relative to it."""
    for pattern in ("*_pb2*.py", "*_pb2*.pyi", "*.binpb"):
        yield from (path.relative_to(root) for path in root.rglob(pattern))


def check() -> int:
    """Compare the committed files with fresh ones; return the number of differences."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        write_all(fresh)
        names = sorted({*generated(fresh), *generated(STUBS)})
        _, mismatch, errors = filecmp.cmpfiles(fresh, STUBS, names, shallow=False)
    for name in [*mismatch, *errors]:
        print(f"not current: {name}; run `just gen`")
    return len(mismatch) + len(errors)


def main() -> None:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the committed files differ")
    parser.add_argument("--image", type=Path, help="write only the descriptor set, to this file")
    options = parser.parse_args()
    if options.check:
        sys.exit(1 if check() else 0)
    if options.image:
        write_image(options.image)
    else:
        write_all(STUBS)


if __name__ == "__main__":
    main()
