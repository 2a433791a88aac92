"""The methods of a client, by the names that the suite has for them."""

import re
from dataclasses import dataclass
from typing import Any

from _gen import contract_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from forge_client._gen.forge.artifact.v1 import artifact_pb2
from forge_client._gen.forge.event.v1 import approval_service_pb2, event_service_pb2
from forge_client._gen.forge.session.v1 import session_pb2
from forge_client._gen.forge.token.v1 import token_pb2
from forge_client._gen.forge.worker.v1 import worker_pb2
from forge_client._gen.forge.workflow.v1 import schedule_pb2, workflow_pb2
from forge_client._gen.forge.workspace.v1 import workspace_pb2

SERVICES = {
    "session": session_pb2.DESCRIPTOR,
    "workflow": workflow_pb2.DESCRIPTOR,
    "schedule": schedule_pb2.DESCRIPTOR,
    "event": event_service_pb2.DESCRIPTOR,
    "approval": approval_service_pb2.DESCRIPTOR,
    "artifact": artifact_pb2.DESCRIPTOR,
    "workspace": workspace_pb2.DESCRIPTOR,
    "token": token_pb2.DESCRIPTOR,
    "worker": worker_pb2.DESCRIPTOR,
}


@dataclass(frozen=True)
class Method:
    """A method of a client, and the messages that go into it."""

    service: str
    name: str
    request: type[Message]

    def of(self, client: object) -> Any:
        return getattr(getattr(client, self.service), self.name)

    def decode(self, request: AnyMessage) -> Message:
        message = self.request()
        if not request.Unpack(message):
            raise ValueError(f"{request.type_url} is no {self.request.DESCRIPTOR.full_name}")
        return message


def _methods(attribute: str, file: FileDescriptor) -> dict[str, Method]:
    return {
        f"{service.full_name}/{method.name}": Method(attribute, re.sub(r"(?<!^)(?=[A-Z])", "_", method.name).lower(), GetMessageClass(method.input_type))
        for service in file.services_by_name.values()
        for method in service.methods
    }


METHODS: dict[str, Method] = {name: method for attribute, file in SERVICES.items() for name, method in _methods(attribute, file).items()}


def to_any(message: Message) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed


def describe(request_id: int, implementation: str) -> contract_pb2.DriverResponse:
    description = contract_pb2.Description(implementation=implementation, language="Python", methods=list(METHODS))
    return contract_pb2.DriverResponse(id=request_id, description=description)


def following(request: Message) -> dict[str, Any]:
    """How a client's own following is asked for what a plain subscription was."""
    if not isinstance(request, event_service_pb2.SubscribeEventsRequest):
        raise TypeError(f"only subscriptions are followed, and this is a {request.DESCRIPTOR.full_name}")
    return {
        "streams": request.streams,
        "follow_children": request.follow_children,
        "exclude_kinds": request.filter.exclude_kinds,
        "no_follow": request.no_follow,
    }


def to_subscribed(followed: Message) -> event_service_pb2.SubscribeEventsResponse:
    """What following gives, told in the messages of a plain subscription."""
    field: str = {"Event": "event", "CaughtUp": "caught_up", "Position": "position"}[followed.DESCRIPTOR.name]
    kind: dict[str, Any] = {field: followed}
    return event_service_pb2.SubscribeEventsResponse(**kind)
