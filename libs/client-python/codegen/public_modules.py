"""Writes the modules that users import messages from: one per area of the contracts, as in `forge_client.protocol.session`."""

from collections import defaultdict
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet


def write_public_modules(described: FileDescriptorSet, out: Path, notice: str) -> None:
    names: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for file in described.file:
        area = file.package.split(".")[1] if file.package.startswith("forge.") else None
        types = sorted([*(message.name for message in file.message_type), *(enum.name for enum in file.enum_type)])
        if area is not None and types:
            names[area][file.name] = types
    for area, files in sorted(names.items()):
        lines = [notice, f'"""Messages and enums of forge.{area}.v1, as in proto/forge/{area}/v1."""\n\n']
        for name, types in sorted(files.items()):
            module = f"forge_client._gen.{name.removesuffix('.proto').replace('/', '.')}_pb2"
            lines.append(f"from {module} import (\n" + "".join(f"    {type_name},\n" for type_name in types) + ")\n")
        every = sorted(type_name for types in files.values() for type_name in types)
        lines.append("\n__all__ = [\n" + "".join(f'    "{type_name}",\n' for type_name in every) + "]\n")
        (out / f"{area}.py").write_text("".join(lines))
