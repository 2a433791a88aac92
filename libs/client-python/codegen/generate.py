"""Writes what the package has from the contracts: messages, their public modules, and the typed services of both clients.

Usage: generate.py PROTO_DIRECTORY PACKAGE_DIRECTORY [DRIVER_DIRECTORY]

Everything in `_gen` and `protocol` below PACKAGE_DIRECTORY is replaced; with DRIVER_DIRECTORY, the contract suite's own messages go to `_gen` there. The same
contracts give the same bytes. Needs grpcio-tools as pinned in the requirements of the tests: a newer one would ask users for a newer protobuf.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

import grpc_tools
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

from public_modules import write_public_modules
from services import write_services

# Not for users: the store's own formats, and what the contract suite says to its drivers.
LEFT_OUT = {"engine", "contract"}
NOTICE = "# Generated from proto/ by codegen/generate.py; do not edit.\n"
WELL_KNOWN = str(Path(grpc_tools.__file__).parent / "_proto")


def main() -> None:
    protos, package, *driver = (Path(argument).resolve() for argument in sys.argv[1:])
    areas = sorted(directory.name for directory in (protos / "forge").iterdir() if directory.name not in LEFT_OUT)
    files = sorted(str(file.relative_to(protos)) for area in areas for file in (protos / "forge" / area).rglob("*.proto"))
    with tempfile.TemporaryDirectory() as temporary:
        compiled = Path(temporary)
        run_protoc(protos, compiled, files)
        described = FileDescriptorSet.FromString((compiled / "descriptors").read_bytes())
        write_messages(compiled / "forge", replaced(package / "_gen") / "forge")
    write_services(described, package / "_gen", NOTICE)
    write_public_modules(described, replaced(package / "protocol"), NOTICE)
    if driver:
        write_driver_messages(protos, driver[0])


def replaced(directory: Path) -> Path:
    """An empty package in the directory's place."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "__init__.py").write_text("")
    return directory


def run_protoc(protos: Path, out: Path, files: list[str]) -> None:
    options = [f"-I{protos}", f"-I{WELL_KNOWN}", f"--python_out={out}", f"--pyi_out={out}"]
    options += ["--include_source_info", f"--descriptor_set_out={out / 'descriptors'}"]
    if protoc.main(["protoc", *options, *files]) != 0:
        sys.exit("protoc failed")


def write_messages(source: Path, target: Path) -> None:
    """protoc imports by the contracts' own paths, which would claim the name `forge` for everybody; here they are ours."""
    for file in sorted([*source.rglob("*.py"), *source.rglob("*.pyi")]):
        written = target / file.relative_to(source)
        written.parent.mkdir(parents=True, exist_ok=True)
        for directory in [written.parent, *written.parent.parents]:
            (directory / "__init__.py").touch()
            if directory == target:
                break
        text = re.sub(r"^from forge\.", "from forge_client._gen.forge.", file.read_text(), flags=re.MULTILINE)
        # The name that the messages' classes give as their module.
        written.write_text(re.sub(r"^(_builder\.BuildTopDescriptorsAndMessages\(DESCRIPTOR, ')", r"\1forge_client._gen.", text, flags=re.MULTILINE))


def write_driver_messages(protos: Path, driver: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        compiled = Path(temporary)
        run_protoc(protos, compiled, ["forge/contract/v1/contract.proto"])
        out = replaced(driver / "_gen")
        for file in sorted((compiled / "forge" / "contract" / "v1").iterdir()):
            (out / file.name).write_text(re.sub(r"^from forge\.", "from forge_client._gen.forge.", file.read_text(), flags=re.MULTILINE))


if __name__ == "__main__":
    main()
