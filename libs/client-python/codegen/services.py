"""Writes a typed class per service, for the client that blocks and for the one on asyncio, with the contracts' comments as docstrings."""

import keyword
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)

# Their numbers in descriptor.proto: the path to an element's comment.
MESSAGES, SERVICES, MEMBERS = 4, 6, 2
OPTIONS = {"timeout", "cancellation", "request", "self"}
WIDTH = 120
NUMBERS = ("INT32", "INT64", "UINT32", "UINT64", "SINT32", "SINT64", "FIXED32", "FIXED64", "SFIXED32", "SFIXED64")
SCALARS = {f"TYPE_{name}": "int" for name in NUMBERS} | {
    "TYPE_DOUBLE": "float",
    "TYPE_FLOAT": "float",
    "TYPE_BOOL": "bool",
    "TYPE_STRING": "str",
    "TYPE_BYTES": "bytes",
}
# What protobuf takes in the place of these messages beside a mapping.
NATIVE = {"google.protobuf.Timestamp": "datetime.datetime", "google.protobuf.Duration": "datetime.timedelta"}


class Comments:
    """The comments that stand before the elements of a file."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._texts = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}

    def of(self, *path: int) -> str:
        return " ".join(self._texts.get(path, "").split())


class Types:
    """Where every message and enum of the contracts is found in Python."""

    def __init__(self, described: FileDescriptorSet) -> None:
        self.messages: dict[str, DescriptorProto] = {}
        self.comments: dict[str, tuple[Comments, int]] = {}
        self._modules: dict[str, str] = {}
        self.used: set[str] = set()
        for file in described.file:
            comments = Comments(file)
            module = f"forge_client._gen.{file.name.removesuffix('.proto').replace('/', '.')}_pb2"
            for index, message in enumerate(file.message_type):
                self.messages[f"{file.package}.{message.name}"] = message
                self.comments[f"{file.package}.{message.name}"] = comments, index
                self._modules[f"{file.package}.{message.name}"] = module
            for enum in file.enum_type:
                self._modules[f"{file.package}.{enum.name}"] = module

    def name(self, full_name: str) -> str:
        """How generated code writes a type; what it has to import for it is kept."""
        full_name = full_name.removeprefix(".")
        if full_name in NATIVE:
            module, short = f"google.protobuf.{full_name.rsplit('.', 1)[1].lower()}_pb2", full_name.rsplit(".", 1)[1]
        else:
            module, short = self._modules[full_name], full_name.rsplit(".", 1)[1]
        parent, leaf = module.rsplit(".", 1)
        self.used.add(f"from {parent} import {leaf}")
        return f"{leaf}.{short}"

    def argument(self, field: FieldDescriptorProto, message: DescriptorProto) -> str:
        """What a caller may give for a field, None apart."""
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            for entry in message.nested_type:
                if entry.options.map_entry and field.type_name.endswith(f".{message.name}.{entry.name}"):
                    key, value = entry.field
                    return f"Mapping[{self.single(key)}, {self.single(value)}]"
            return f"Iterable[{self.single(field)}]"
        return self.single(field)

    def single(self, field: FieldDescriptorProto) -> str:
        kind = FieldDescriptorProto.Type.Name(field.type)
        if kind == "TYPE_MESSAGE":
            native = NATIVE.get(field.type_name.removeprefix("."))
            return " | ".join([self.name(field.type_name), *([native] if native else []), "Mapping[str, Any]"])
        if kind == "TYPE_ENUM":
            return f"{self.name(field.type_name)} | str"
        return SCALARS[kind]


def write_services(described: FileDescriptorSet, out: Path, notice: str) -> None:
    for is_async in (False, True):
        types = Types(described)
        classes = [
            service_class(types, file, Comments(file), index, is_async)
            for file in described.file
            if file.package.startswith("forge.")
            for index in range(len(file.service))
        ]
        (out / ("async_services.py" if is_async else "services.py")).write_text(notice + header(types, is_async) + "\n\n".join(classes))


def header(types: Types, is_async: bool) -> str:
    kind = "the client on asyncio" if is_async else "the client that blocks"
    transport = (
        ["from forge_client._async_channel import AsyncChannel, AsyncResponseStream"]
        if is_async
        else ["from forge_client._channel import Channel, ResponseStream", "from forge_client.cancellation import Cancellation"]
    )
    imports = "\n".join(sorted([*types.used, *transport, "from forge_client._request import to_request"]))
    return f'"""The services of {kind}."""\n\nimport datetime\nfrom collections.abc import Iterable, Mapping\nfrom typing import Any\n\n{imports}\n\n\n'


def service_class(types: Types, file: FileDescriptorProto, comments: Comments, index: int, is_async: bool) -> str:
    service = file.service[index]
    channel = "AsyncChannel" if is_async else "Channel"
    lines = [
        f"class {'Async' if is_async else ''}{service.name}:",
        *docstring([comments.of(SERVICES, index)], [], "    "),
        "",
        f"    def __init__(self, channel: {channel}) -> None:",
        "        self._channel = channel",
    ]
    for number, method in enumerate(service.method):
        lines += ["", *method_lines(types, file, service, method, comments.of(SERVICES, index, MEMBERS, number), is_async)]
    return "\n".join(lines) + "\n"


def method_lines(
    types: Types, file: FileDescriptorProto, service: ServiceDescriptorProto, method: MethodDescriptorProto, comment: str, is_async: bool
) -> Iterator[str]:
    full_name = method.input_type.removeprefix(".")
    message = types.messages[full_name]
    request, response = types.name(method.input_type), types.name(method.output_type)
    fields = [field for field in message.field if check_name(field.name, full_name)]
    stream = ("AsyncResponseStream" if is_async else "ResponseStream") if method.server_streaming else None
    yield f"    {'async ' if is_async and not stream else ''}def {snake_case(method.name)}("
    yield "        self,"
    yield f"        request: {request} | None = None,"
    yield "        /,"
    yield "        *,"
    for field in fields:
        yield f"        {field.name}: {types.argument(field, message)} | None = None,"
    yield "        timeout: float | None = None,"
    if not is_async:
        yield "        cancellation: Cancellation | None = None,"
    yield f"    ) -> {f'{stream}[{response}]' if stream else response}:"
    what, _, errors = comment.partition(" Errors: ")
    arguments = [("request", "The request as a message, in place of its fields." if fields else "The request, which has no fields.")]
    comments, index = types.comments[full_name]
    for number, field in enumerate(message.field):
        text = comments.of(MESSAGES, index, MEMBERS, number)
        if text:
            arguments.append((field.name, text))
    arguments.append(("timeout", "Seconds; `deadline_exceeded` comes after it. None: no deadline."))
    if not is_async:
        arguments.append(("cancellation", "Gives the call up from another thread, which then fails with `cancelled`."))
    raises = f"{errors.rstrip('.')}; what every call may fail with." if errors else "What every call may fail with."
    sections = [("Args", arguments), ("Raises", [("ForgeError", raises)])]
    yield from docstring([what], sections, "        ")
    yield f"        message = to_request({request}, request, {{{', '.join(f'{quoted(field.name)}: {field.name}' for field in fields)}}})"
    call = "stream" if stream else "unary"
    path = f"/{file.package}.{service.name}/{method.name}"
    options = "timeout" if is_async else "timeout, cancellation"
    yield f"        return {'await ' if is_async and not stream else ''}self._channel.{call}({quoted(path)}, message, {response}, {options})"


def check_name(name: str, message: str) -> bool:
    if name in OPTIONS or keyword.iskeyword(name):
        raise ValueError(f"field {name} of {message} can't be an argument in Python")
    return True


def docstring(paragraphs: list[str], sections: list[tuple[str, list[tuple[str, str]]]], indent: str) -> Iterator[str]:
    lines = [line for paragraph in paragraphs for line in wrap(paragraph, indent, indent)]
    for title, entries in sections:
        lines += ["", f"{indent}{title}:"]
        for name, text in entries:
            lines += wrap(f"{name}: {text}", f"{indent}    ", f"{indent}        ")
    lines[0] = f'{indent}"""{lines[0].strip()}'
    if len(lines) == 1:
        lines[0] += '"""'
    else:
        lines.append(f'{indent}"""')
    return iter(lines)


def wrap(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text.replace("\\", "\\\\"), WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def quoted(text: str) -> str:
    return f'"{text}"'


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
