# Generated from proto/ by codegen/generate.py; do not edit.
"""The services of the client that blocks."""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from forge_client._channel import Channel, ResponseStream
from forge_client._gen.forge.artifact.v1 import artifact_pb2
from forge_client._gen.forge.common.v1 import common_pb2
from forge_client._gen.forge.event.v1 import approval_service_pb2
from forge_client._gen.forge.event.v1 import event_service_pb2
from forge_client._gen.forge.session.v1 import conversation_pb2
from forge_client._gen.forge.session.v1 import session_pb2
from forge_client._gen.forge.token.v1 import token_pb2
from forge_client._gen.forge.tool.v1 import tool_pb2
from forge_client._gen.forge.worker.v1 import worker_pb2
from forge_client._gen.forge.workflow.v1 import definition_pb2
from forge_client._gen.forge.workflow.v1 import schedule_pb2
from forge_client._gen.forge.workflow.v1 import workflow_pb2
from forge_client._gen.forge.workspace.v1 import workspace_pb2
from forge_client._request import to_request
from forge_client.cancellation import Cancellation
from google.protobuf import duration_pb2
from google.protobuf import timestamp_pb2


class ArtifactService:
    """Stores and reads blobs by their hash, within the caller's namespace."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def put_artifact(
        self,
        request: artifact_pb2.PutArtifactRequest | None = None,
        /,
        *,
        content: bytes | None = None,
        media_type: str | None = None,
        sha256: str | None = None,
        lease: common_pb2.TaskLease | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> artifact_pb2.PutArtifactResponse:
        """Stores a blob. Idempotent by content.

        Args:
            request: The request as a message, in place of its fields.
            content: At most 16 MiB.
            sha256: When set, refused unless the content has this hash.
            lease: A worker's: the lease of the task that it puts this for.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation (too large, hash mismatch); what every call may fail with.
        """
        message = to_request(artifact_pb2.PutArtifactRequest, request, {"content": content, "media_type": media_type, "sha256": sha256, "lease": lease})
        return self._channel.unary("/forge.artifact.v1.ArtifactService/PutArtifact", message, artifact_pb2.PutArtifactResponse, timeout, cancellation)

    def get_artifact(
        self,
        request: artifact_pb2.GetArtifactRequest | None = None,
        /,
        *,
        sha256: str | None = None,
        offset: int | None = None,
        length: int | None = None,
        lease: common_pb2.TaskLease | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> ResponseStream[artifact_pb2.GetArtifactResponse]:
        """Streams a blob's bytes, or a range of them, in order; the first message carries the reference, and the whole is
        verified against its hash before any byte is sent.

        Args:
            request: The request as a message, in place of its fields.
            offset: Bytes to leave out at the beginning; at most the artifact's size.
            length: Bytes at most; absent: to the end. Not 0.
            lease: A worker's: the lease of a task whose work refers to the artifact.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; validation (the range); storage_error (the stored bytes do not match their hash);
                what every call may fail with.
        """
        message = to_request(artifact_pb2.GetArtifactRequest, request, {"sha256": sha256, "offset": offset, "length": length, "lease": lease})
        return self._channel.stream("/forge.artifact.v1.ArtifactService/GetArtifact", message, artifact_pb2.GetArtifactResponse, timeout, cancellation)


class ApprovalService:
    """Approvals of any stream."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def resolve_approval(
        self,
        request: approval_service_pb2.ResolveApprovalRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        stream: common_pb2.StreamRef | Mapping[str, Any] | None = None,
        approval_id: str | None = None,
        decision: tool_pb2.Decision | str | None = None,
        comment: str | None = None,
        scope: tool_pb2.ApprovalScope | str | None = None,
        category: tool_pb2.ApprovalCategory | str | None = None,
        remember_rule: bool | None = None,
        edited_arguments_json: str | None = None,
        stop_turn: bool | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> approval_service_pb2.ResolveApprovalResponse:
        """Answers an approval; the first answer wins.

        Args:
            request: The request as a message, in place of its fields.
            decision: ALLOW or DENY.
            comment: For the model; at most 4,096 characters.
            scope: Of an ALLOW of a session's call. Anything beyond ONCE needs a category or remember_rule.
            category: Also allows, within the scope, all calls of this category.
            remember_rule: Also allows, within the scope, all calls of this tool with the rule key of this call's
                preview. validation where the preview has none.
            edited_arguments_json: Of an ALLOW: these arguments (a JSON object, at most 64 KiB) are executed instead of
                the model's, who is told. They are previewed anew where the tool previews, and executed as allowed by
                this answer if that preview succeeds.
            stop_turn: Of a DENY: the rest of the answer's calls are stopped and the turn ends, outcome DENIED.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, APPROVAL_RESOLVED, with the resolution in the metadata; what every call may
                fail with.
        """
        message = to_request(approval_service_pb2.ResolveApprovalRequest, request, {"header": header, "stream": stream, "approval_id": approval_id, "decision": decision, "comment": comment, "scope": scope, "category": category, "remember_rule": remember_rule, "edited_arguments_json": edited_arguments_json, "stop_turn": stop_turn})
        return self._channel.unary("/forge.event.v1.ApprovalService/ResolveApproval", message, approval_service_pb2.ResolveApprovalResponse, timeout, cancellation)

    def list_pending_approvals(
        self,
        request: approval_service_pb2.ListPendingApprovalsRequest | None = None,
        /,
        *,
        stream: common_pb2.StreamRef | Mapping[str, Any] | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> approval_service_pb2.ListPendingApprovalsResponse:
        """What waits, oldest first.

        Args:
            request: The request as a message, in place of its fields.
            stream: Unset: of all streams.
            page_size: At most 500; 0: 50.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(approval_service_pb2.ListPendingApprovalsRequest, request, {"stream": stream, "page_size": page_size, "page_token": page_token})
        return self._channel.unary("/forge.event.v1.ApprovalService/ListPendingApprovals", message, approval_service_pb2.ListPendingApprovalsResponse, timeout, cancellation)


class SessionService:
    """Durable agent contexts and the turns in them."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def create_session(
        self,
        request: session_pb2.CreateSessionRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        agent: session_pb2.AgentSpec | Mapping[str, Any] | None = None,
        policy: tool_pb2.ToolPolicy | Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        queue: str | None = None,
        title: str | None = None,
        parent: session_pb2.ParentStep | Mapping[str, Any] | None = None,
        parent_call: session_pb2.ParentCall | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.CreateSessionResponse:
        """Creates a session; its id derives from namespace and command id, so retries meet.

        Args:
            request: The request as a message, in place of its fields.
            labels: At most 32; keys and values at most 128 characters.
            queue: The queue whose workers serve this session; absent: "default". At most 128 characters.
            title: At most 256 characters.
            parent: Set only by a run's step that the session works for; refused from clients.
            parent_call: Set only by a tool call that the session works for; refused from clients.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(session_pb2.CreateSessionRequest, request, {"header": header, "agent": agent, "policy": policy, "labels": labels, "queue": queue, "title": title, "parent": parent, "parent_call": parent_call})
        return self._channel.unary("/forge.session.v1.SessionService/CreateSession", message, session_pb2.CreateSessionResponse, timeout, cancellation)

    def start_turn(
        self,
        request: session_pb2.StartTurnRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        input: Iterable[conversation_pb2.Part | Mapping[str, Any]] | None = None,
        context: Iterable[conversation_pb2.Part | Mapping[str, Any]] | None = None,
        context_sources: Iterable[str] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.StartTurnResponse:
        """Starts a turn.

        Args:
            request: The request as a message, in place of its fields.
            input: What the person says: text and artifact parts, at least one, at most 64 KiB of text in all.
            context: What the host found for this turn (rules, referenced files, a map of the repository): ephemeral,
                before the input; at most 256 KiB of text in all.
            context_sources: Where the context comes from; at most 256 paths of at most 1,024 characters.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict with TURN_ACTIVE or SESSION_CLOSED; validation; what every call may fail
                with.
        """
        message = to_request(session_pb2.StartTurnRequest, request, {"header": header, "session_id": session_id, "input": input, "context": context, "context_sources": context_sources})
        return self._channel.unary("/forge.session.v1.SessionService/StartTurn", message, session_pb2.StartTurnResponse, timeout, cancellation)

    def cancel_turn(
        self,
        request: session_pb2.CancelTurnRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        turn_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.CancelTurnResponse:
        """Asks for the turn to stop; `turn.cancelled` follows once all of it is known to have stopped.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_NOT_ACTIVE; what every call may fail with.
        """
        message = to_request(session_pb2.CancelTurnRequest, request, {"header": header, "session_id": session_id, "turn_id": turn_id})
        return self._channel.unary("/forge.session.v1.SessionService/CancelTurn", message, session_pb2.CancelTurnResponse, timeout, cancellation)

    def abandon_turn(
        self,
        request: session_pb2.AbandonTurnRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        turn_id: str | None = None,
        reason: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.AbandonTurnResponse:
        """Ends a turn whose work nobody can confirm any more, its open calls unknown.

        Args:
            request: The request as a message, in place of its fields.
            reason: Why; at most 1,024 characters.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_NOT_ACTIVE; what every call may fail with.
        """
        message = to_request(session_pb2.AbandonTurnRequest, request, {"header": header, "session_id": session_id, "turn_id": turn_id, "reason": reason})
        return self._channel.unary("/forge.session.v1.SessionService/AbandonTurn", message, session_pb2.AbandonTurnResponse, timeout, cancellation)

    def steer_turn(
        self,
        request: session_pb2.SteerTurnRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        turn_id: str | None = None,
        input: Iterable[conversation_pb2.Part | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.SteerTurnResponse:
        """Tells an active turn more: joins the conversation behind open tool results, before the next model call, and
        makes another one follow where the model had ended.

        Args:
            request: The request as a message, in place of its fields.
            turn_id: The turn that is meant.
            input: Text and artifact parts, at least one, at most 64 KiB of text in all.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_NOT_ACTIVE, TURN_CANCELLING; validation; what every call may fail
                with.
        """
        message = to_request(session_pb2.SteerTurnRequest, request, {"header": header, "session_id": session_id, "turn_id": turn_id, "input": input})
        return self._channel.unary("/forge.session.v1.SessionService/SteerTurn", message, session_pb2.SteerTurnResponse, timeout, cancellation)

    def pause_turn(
        self,
        request: session_pb2.PauseTurnRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        turn_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.PauseTurnResponse:
        """Holds a turn before its next dispatch; what was dispatched, finishes, and a turn whose last work that was, ends.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_NOT_ACTIVE, TURN_PAUSED, TURN_CANCELLING; what every call may fail
                with.
        """
        message = to_request(session_pb2.PauseTurnRequest, request, {"header": header, "session_id": session_id, "turn_id": turn_id})
        return self._channel.unary("/forge.session.v1.SessionService/PauseTurn", message, session_pb2.PauseTurnResponse, timeout, cancellation)

    def continue_turn(
        self,
        request: session_pb2.ContinueTurnRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        turn_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.ContinueTurnResponse:
        """Lets a paused turn go on.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_NOT_ACTIVE, TURN_NOT_PAUSED; what every call may fail with.
        """
        message = to_request(session_pb2.ContinueTurnRequest, request, {"header": header, "session_id": session_id, "turn_id": turn_id})
        return self._channel.unary("/forge.session.v1.SessionService/ContinueTurn", message, session_pb2.ContinueTurnResponse, timeout, cancellation)

    def provide_input(
        self,
        request: session_pb2.ProvideInputRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        turn_id: str | None = None,
        input_id: str | None = None,
        text: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.ProvideInputResponse:
        """Answers a question that the model asked with the tool tools.ask.

        Args:
            request: The request as a message, in place of its fields.
            input_id: The question's, from turn.input_requested.
            text: 1 character to 64 KiB, written as a JSON string.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, INPUT_PROVIDED, with who answered first as provided_by in the metadata,
                INPUT_NOT_REQUESTED, TURN_NOT_ACTIVE; validation; what every call may fail with.
        """
        message = to_request(session_pb2.ProvideInputRequest, request, {"header": header, "session_id": session_id, "turn_id": turn_id, "input_id": input_id, "text": text})
        return self._channel.unary("/forge.session.v1.SessionService/ProvideInput", message, session_pb2.ProvideInputResponse, timeout, cancellation)

    def fork_session(
        self,
        request: session_pb2.ForkSessionRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        through_seq: int | None = None,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        model: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.ForkSessionResponse:
        """A new session with this one's agent, which may answer by another model, present policy and conversation up to a
        seq; calls that were open there are unknown in the fork. Its id derives from namespace and command id. The
        source may have an active turn or be closed.

        Args:
            request: The request as a message, in place of its fields.
            session_id: The session whose history is taken.
            through_seq: Inclusive; 0: all of it.
            title: At most 256 characters; empty: the source's.
            labels: Empty: the source's.
            model: provider/model; empty: the source's.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; validation, of a model that nobody serves as well; resource_exhausted,
                FORK_TOO_LARGE; what every call may fail with.
        """
        message = to_request(session_pb2.ForkSessionRequest, request, {"header": header, "session_id": session_id, "through_seq": through_seq, "title": title, "labels": labels, "model": model})
        return self._channel.unary("/forge.session.v1.SessionService/ForkSession", message, session_pb2.ForkSessionResponse, timeout, cancellation)

    def update_session_policy(
        self,
        request: session_pb2.UpdateSessionPolicyRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        policy: tool_pb2.ToolPolicy | Mapping[str, Any] | None = None,
        revoke_grants: bool | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.UpdateSessionPolicyResponse:
        """Replaces the tool policy, from the next gate decision on.

        Args:
            request: The request as a message, in place of its fields.
            revoke_grants: What people granted for the turn or the session holds no more.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, SESSION_CLOSED; validation; what every call may fail with.
        """
        message = to_request(session_pb2.UpdateSessionPolicyRequest, request, {"header": header, "session_id": session_id, "policy": policy, "revoke_grants": revoke_grants})
        return self._channel.unary("/forge.session.v1.SessionService/UpdateSessionPolicy", message, session_pb2.UpdateSessionPolicyResponse, timeout, cancellation)

    def compact_session(
        self,
        request: session_pb2.CompactSessionRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        summary: str | None = None,
        through_seq: int | None = None,
        instructions: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.CompactSessionResponse:
        """Lets the conversation up to a seq be represented by a summary, the caller's or one that the agent's model
        writes. History is kept.

        Args:
            request: The request as a message, in place of its fields.
            summary: What stands for the conversation from now on; at most 64 KiB. Empty: the agent's model writes it,
                and session.compacted or session.compaction_failed follows.
            through_seq: Inclusive; 0: all of it. Must not lie within a turn or among the messages that a fork began
                with, nor before an earlier compaction's. Looked for among the last 64 turns.
            instructions: For the model that writes it; at most 4,096 characters.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_ACTIVE, SESSION_CLOSED, SESSION_BUSY; validation; what every call may
                fail with.
        """
        message = to_request(session_pb2.CompactSessionRequest, request, {"header": header, "session_id": session_id, "summary": summary, "through_seq": through_seq, "instructions": instructions})
        return self._channel.unary("/forge.session.v1.SessionService/CompactSession", message, session_pb2.CompactSessionResponse, timeout, cancellation)

    def undo_changes(
        self,
        request: session_pb2.UndoChangesRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        change_ids: Iterable[str] | None = None,
        turn_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.UndoChangesResponse:
        """Takes back changes of files that tools of the session made, newest first; a worker does it, and
        workspace.change_undone tells what came of it. What somebody else has changed since is refused and stays.

        Args:
            request: The request as a message, in place of its fields.
            change_ids: At most 1,000; empty: all that stand of turn_id.
            turn_id: Empty, with no change_ids: the last turn that changed something.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found (CHANGE_NOT_FOUND); conflict, TURN_ACTIVE, SESSION_CLOSED, SESSION_BUSY,
                NOTHING_TO_UNDO; what every call may fail with.
        """
        message = to_request(session_pb2.UndoChangesRequest, request, {"header": header, "session_id": session_id, "change_ids": change_ids, "turn_id": turn_id})
        return self._channel.unary("/forge.session.v1.SessionService/UndoChanges", message, session_pb2.UndoChangesResponse, timeout, cancellation)

    def rewind_session(
        self,
        request: session_pb2.RewindSessionRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        through_seq: int | None = None,
        keep_files: bool | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.RewindSessionResponse:
        """Lets the conversation, and with it the files unless they are to be kept, stand as they did at a seq. Where a
        file can't be taken back, nothing is rewound.

        Args:
            request: The request as a message, in place of its fields.
            through_seq: Inclusive: the last event that stays part of the conversation. Must not lie within a turn.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TURN_ACTIVE, SESSION_CLOSED, SESSION_BUSY; validation; what every call may
                fail with.
        """
        message = to_request(session_pb2.RewindSessionRequest, request, {"header": header, "session_id": session_id, "through_seq": through_seq, "keep_files": keep_files})
        return self._channel.unary("/forge.session.v1.SessionService/RewindSession", message, session_pb2.RewindSessionResponse, timeout, cancellation)

    def list_changes(
        self,
        request: session_pb2.ListChangesRequest | None = None,
        /,
        *,
        session_id: str | None = None,
        after_seq: int | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        lease: common_pb2.TaskLease | Mapping[str, Any] | None = None,
        change_ids: Iterable[str] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.ListChangesResponse:
        """The changes of files that tools of the session made, oldest first, and whether they still stand.

        Args:
            request: The request as a message, in place of its fields.
            after_seq: Exclusive.
            page_size: At most 500; 0: 50.
            lease: A worker's: the lease of a task of this session, which it must hold.
            change_ids: Only these; empty: all.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; validation; what every call may fail with.
        """
        message = to_request(session_pb2.ListChangesRequest, request, {"session_id": session_id, "after_seq": after_seq, "page_size": page_size, "page_token": page_token, "lease": lease, "change_ids": change_ids})
        return self._channel.unary("/forge.session.v1.SessionService/ListChanges", message, session_pb2.ListChangesResponse, timeout, cancellation)

    def close_session(
        self,
        request: session_pb2.CloseSessionRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.CloseSessionResponse:
        """Closes a session.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict with TURN_ACTIVE or SESSION_CLOSED; what every call may fail with.
        """
        message = to_request(session_pb2.CloseSessionRequest, request, {"header": header, "session_id": session_id})
        return self._channel.unary("/forge.session.v1.SessionService/CloseSession", message, session_pb2.CloseSessionResponse, timeout, cancellation)

    def get_session_snapshot(
        self,
        request: session_pb2.GetSessionSnapshotRequest | None = None,
        /,
        *,
        session_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.GetSessionSnapshotResponse:
        """The session as of its newest event.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; what every call may fail with.
        """
        message = to_request(session_pb2.GetSessionSnapshotRequest, request, {"session_id": session_id})
        return self._channel.unary("/forge.session.v1.SessionService/GetSessionSnapshot", message, session_pb2.GetSessionSnapshotResponse, timeout, cancellation)

    def list_sessions(
        self,
        request: session_pb2.ListSessionsRequest | None = None,
        /,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        status: session_pb2.SessionStatus | str | None = None,
        labels: Mapping[str, str] | None = None,
        created_from: timestamp_pb2.Timestamp | datetime.datetime | Mapping[str, Any] | None = None,
        created_before: timestamp_pb2.Timestamp | datetime.datetime | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.ListSessionsResponse:
        """Sessions, newest first.

        Args:
            request: The request as a message, in place of its fields.
            page_size: At most 500; 0: 50.
            status: Unset: all.
            labels: All must match.
            created_from: Created at or after; absent: any.
            created_before: Created before; absent: any.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation (page token, page size); what every call may fail with.
        """
        message = to_request(session_pb2.ListSessionsRequest, request, {"page_size": page_size, "page_token": page_token, "status": status, "labels": labels, "created_from": created_from, "created_before": created_before})
        return self._channel.unary("/forge.session.v1.SessionService/ListSessions", message, session_pb2.ListSessionsResponse, timeout, cancellation)

    def read_conversation(
        self,
        request: session_pb2.ReadConversationRequest | None = None,
        /,
        *,
        session_id: str | None = None,
        after_seq: int | None = None,
        through_seq: int | None = None,
        turn_id: str | None = None,
        lease: common_pb2.TaskLease | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> session_pb2.ReadConversationResponse:
        """The conversation in a range of seq, folded into messages.

        Args:
            request: The request as a message, in place of its fields.
            after_seq: Exclusive.
            through_seq: Inclusive; 0: the newest.
            turn_id: When set, the answer carries this turn's system prompt and tools, and other turns' ephemeral
                messages are left out.
            lease: A worker's: the lease of a task of this session, which it must hold.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; validation; what every call may fail with.
        """
        message = to_request(session_pb2.ReadConversationRequest, request, {"session_id": session_id, "after_seq": after_seq, "through_seq": through_seq, "turn_id": turn_id, "lease": lease})
        return self._channel.unary("/forge.session.v1.SessionService/ReadConversation", message, session_pb2.ReadConversationResponse, timeout, cancellation)


class WorkflowService:
    """Starts, stops and shows runs."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def start_run(
        self,
        request: workflow_pb2.StartRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        definition: definition_pb2.WorkflowDefinition | Mapping[str, Any] | None = None,
        inputs: common_pb2.Value | Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        queue: str | None = None,
        model_override: str | None = None,
        policy: tool_pb2.ToolPolicy | Mapping[str, Any] | None = None,
        workflow: str | None = None,
        concurrency_key: str | None = None,
        concurrency_limit: int | None = None,
        priority: int | None = None,
        overwrite_policy: workflow_pb2.OverwritePolicy | str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.StartRunResponse:
        """Starts a run; its id derives from namespace and command id, so retries meet.

        Args:
            request: The request as a message, in place of its fields.
            inputs: A JSON object; absent: {}.
            labels: At most 32; keys and values at most 128 characters.
            queue: The queue whose workers serve the run; empty: "default".
            model_override: Replaces the model of every agent step; empty: none.
            policy: What agents' tool calls may do without being asked, and what answers their questions; granted by
                whoever starts the run.
            workflow: A registered definition in place of `definition`: its id, which stands for its highest version, or
                id@version. Looked up once, when the run starts.
            concurrency_key: In place of the definition's; no template. At most 256 characters; empty: the definition's.
            concurrency_limit: With concurrency_key: 1 to 1,000; 0: 1.
            priority: 0 to 9; absent: the definition's.
            overwrite_policy: Counts for the runs that its steps start as well.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation (the definition, an input; a function or model that nobody serves:
                FUNCTION_NOT_SERVED, MODEL_NOT_SERVED); not_found, DEFINITION_NOT_FOUND; what every call may fail with.
        """
        message = to_request(workflow_pb2.StartRunRequest, request, {"header": header, "definition": definition, "inputs": inputs, "labels": labels, "queue": queue, "model_override": model_override, "policy": policy, "workflow": workflow, "concurrency_key": concurrency_key, "concurrency_limit": concurrency_limit, "priority": priority, "overwrite_policy": overwrite_policy})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/StartRun", message, workflow_pb2.StartRunResponse, timeout, cancellation)

    def cancel_run(
        self,
        request: workflow_pb2.CancelRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        run_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.CancelRunResponse:
        """Asks for the run to stop; `run.cancelled` follows once all of it is known to have stopped.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, RUN_ENDED; what every call may fail with.
        """
        message = to_request(workflow_pb2.CancelRunRequest, request, {"header": header, "run_id": run_id})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/CancelRun", message, workflow_pb2.CancelRunResponse, timeout, cancellation)

    def signal_run(
        self,
        request: workflow_pb2.SignalRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        run_id: str | None = None,
        name: str | None = None,
        payload: common_pb2.Value | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.SignalRunResponse:
        """Hands a signal to a run: to the step that waits for it, or to the next one that will.

        Args:
            request: The request as a message, in place of its fields.
            name: At most 128 characters.
            payload: Absent: null.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, RUN_ENDED; resource_exhausted, where 1,000 signals wait; what every call
                may fail with.
        """
        message = to_request(workflow_pb2.SignalRunRequest, request, {"header": header, "run_id": run_id, "name": name, "payload": payload})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/SignalRun", message, workflow_pb2.SignalRunResponse, timeout, cancellation)

    def pause_run(
        self,
        request: workflow_pb2.PauseRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        run_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.PauseRunResponse:
        """No step begins until the run is continued; what is under way goes on.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, RUN_ENDED, RUN_CANCELLING, RUN_PAUSED; what every call may fail with.
        """
        message = to_request(workflow_pb2.PauseRunRequest, request, {"header": header, "run_id": run_id})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/PauseRun", message, workflow_pb2.PauseRunResponse, timeout, cancellation)

    def continue_run(
        self,
        request: workflow_pb2.ContinueRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        run_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ContinueRunResponse:
        """Errors: not_found; conflict, RUN_NOT_PAUSED.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: What every call may fail with.
        """
        message = to_request(workflow_pb2.ContinueRunRequest, request, {"header": header, "run_id": run_id})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ContinueRun", message, workflow_pb2.ContinueRunResponse, timeout, cancellation)

    def resume_run(
        self,
        request: workflow_pb2.ResumeRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        run_id: str | None = None,
        workflow_hash: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ResumeRunResponse:
        """Goes on with a failed run where it failed; what has completed is not executed again.

        Args:
            request: The request as a message, in place of its fields.
            workflow_hash: The hash of the workflow as it is in the caller's files now: where it is another than the
                run's, nothing is done. Empty: not looked at.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, RUN_NOT_FAILED, or WORKFLOW_INTEGRITY where the given hash is not the
                run's; validation (a function or model that nobody serves); what every call may fail with.
        """
        message = to_request(workflow_pb2.ResumeRunRequest, request, {"header": header, "run_id": run_id, "workflow_hash": workflow_hash})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ResumeRun", message, workflow_pb2.ResumeRunResponse, timeout, cancellation)

    def fork_run(
        self,
        request: workflow_pb2.ForkRunRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        run_id: str | None = None,
        step_id: str | None = None,
        workflow_hash: str | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ForkRunResponse:
        """A new run that shares another's history before a step and begins with that step; its id derives from namespace
        and command id.

        Args:
            request: The request as a message, in place of its fields.
            step_id: The step that the new run begins with: the state is as it was before the step's last execution.
            workflow_hash: Empty: not looked at.
            labels: Added to the other run's.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found (the run, the step); conflict, RUN_ACTIVE, WORKFLOW_INTEGRITY; resource_exhausted,
                RUN_TOO_LARGE; validation (a step that was never reached); what every call may fail with.
        """
        message = to_request(workflow_pb2.ForkRunRequest, request, {"header": header, "run_id": run_id, "step_id": step_id, "workflow_hash": workflow_hash, "labels": labels})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ForkRun", message, workflow_pb2.ForkRunResponse, timeout, cancellation)

    def replay_run(
        self,
        request: workflow_pb2.ReplayRunRequest | None = None,
        /,
        *,
        run_id: str | None = None,
        verify_state: bool | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ReplayRunResponse:
        """Goes through a run's history again and calls nothing.

        Args:
            request: The request as a message, in place of its fields.
            verify_state: Decides every step anew from the recorded results and compares: inputs, branches, state before
                and after each step.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, RUN_ACTIVE; resource_exhausted, RUN_TOO_LARGE; internal,
                REPLAY_DATA_MISSING. A mismatch is an answer, not an error; what every call may fail with.
        """
        message = to_request(workflow_pb2.ReplayRunRequest, request, {"run_id": run_id, "verify_state": verify_state})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ReplayRun", message, workflow_pb2.ReplayRunResponse, timeout, cancellation)

    def get_run(
        self,
        request: workflow_pb2.GetRunRequest | None = None,
        /,
        *,
        run_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.GetRunResponse:
        """A run with its steps.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; resource_exhausted, RUN_TOO_LARGE, where its events take more than 256 MiB; what
                every call may fail with.
        """
        message = to_request(workflow_pb2.GetRunRequest, request, {"run_id": run_id})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/GetRun", message, workflow_pb2.GetRunResponse, timeout, cancellation)

    def list_runs(
        self,
        request: workflow_pb2.ListRunsRequest | None = None,
        /,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        status: workflow_pb2.RunStatus | str | None = None,
        labels: Mapping[str, str] | None = None,
        workflow_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ListRunsResponse:
        """Runs, newest first.

        Args:
            request: The request as a message, in place of its fields.
            page_size: At most 500; 0: 50.
            status: Unset: all.
            labels: All must match.
            workflow_id: Empty: all.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(workflow_pb2.ListRunsRequest, request, {"page_size": page_size, "page_token": page_token, "status": status, "labels": labels, "workflow_id": workflow_id})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ListRuns", message, workflow_pb2.ListRunsResponse, timeout, cancellation)

    def archive_runs(
        self,
        request: workflow_pb2.ArchiveRunsRequest | None = None,
        /,
        *,
        run_id: str | None = None,
        older_than: duration_pb2.Duration | datetime.timedelta | Mapping[str, Any] | None = None,
        dry_run: bool | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ArchiveRunsResponse:
        """Moves ended runs out of the way: their events are packed into artifacts. An archived run is read, replayed and
        forked as before and takes no command (conflict, RUN_ARCHIVED). Archiving again does nothing.

        Args:
            request: The request as a message, in place of its fields.
            run_id: Only this one; empty: all that ended long enough ago.
            older_than: Only what ended longer ago than this; absent: whenever it ended.
            dry_run: Only says which these are.
            page_size: Runs that are looked at; at most 500; 0: 50.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; unsupported_version, FORMAT_NOT_READ, while an older control plane runs; of one run:
                not_found; conflict, RUN_ACTIVE; what every call may fail with.
        """
        message = to_request(workflow_pb2.ArchiveRunsRequest, request, {"run_id": run_id, "older_than": older_than, "dry_run": dry_run, "page_size": page_size, "page_token": page_token})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ArchiveRuns", message, workflow_pb2.ArchiveRunsResponse, timeout, cancellation)

    def register_definition(
        self,
        request: workflow_pb2.RegisterDefinitionRequest | None = None,
        /,
        *,
        definition: definition_pb2.WorkflowDefinition | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.RegisterDefinitionResponse:
        """Keeps a definition under its id and version, for runs to be started by these alone. The same content again is
        the same; another is refused, since a version never changes.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation (the definition); conflict, DEFINITION_EXISTS; what every call may fail with.
        """
        message = to_request(workflow_pb2.RegisterDefinitionRequest, request, {"definition": definition})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/RegisterDefinition", message, workflow_pb2.RegisterDefinitionResponse, timeout, cancellation)

    def get_definition(
        self,
        request: workflow_pb2.GetDefinitionRequest | None = None,
        /,
        *,
        workflow: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.GetDefinitionResponse:
        """Errors: validation; not_found, DEFINITION_NOT_FOUND.

        Args:
            request: The request as a message, in place of its fields.
            workflow: As StartRunRequest.workflow.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: What every call may fail with.
        """
        message = to_request(workflow_pb2.GetDefinitionRequest, request, {"workflow": workflow})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/GetDefinition", message, workflow_pb2.GetDefinitionResponse, timeout, cancellation)

    def list_definitions(
        self,
        request: workflow_pb2.ListDefinitionsRequest | None = None,
        /,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        workflow_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workflow_pb2.ListDefinitionsResponse:
        """Registered definitions by id and version.

        Args:
            request: The request as a message, in place of its fields.
            page_size: At most 500; 0: 50.
            workflow_id: Only this workflow's versions; empty: all.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(workflow_pb2.ListDefinitionsRequest, request, {"page_size": page_size, "page_token": page_token, "workflow_id": workflow_id})
        return self._channel.unary("/forge.workflow.v1.WorkflowService/ListDefinitions", message, workflow_pb2.ListDefinitionsResponse, timeout, cancellation)


class EventService:
    """Reads streams of events, and what became of commands."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def subscribe_events(
        self,
        request: event_service_pb2.SubscribeEventsRequest | None = None,
        /,
        *,
        streams: Iterable[event_service_pb2.StreamCursor | Mapping[str, Any]] | None = None,
        follow_children: bool | None = None,
        filter: event_service_pb2.EventFilter | Mapping[str, Any] | None = None,
        no_follow: bool | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> ResponseStream[event_service_pb2.SubscribeEventsResponse]:
        """Replays every event after the given seq of each stream, says that it has caught up, then follows. In order per
        stream, at least once over reconnects.

        Args:
            request: The request as a message, in place of its fields.
            streams: 1 to 1,000.
            follow_children: Follow what works for these streams as well, from its beginning and at any depth: the
                sessions of agent steps, the runs of workflow steps, the sessions of sub-agents.
            no_follow: End after caught_up.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, CURSOR_AHEAD; resource_exhausted, SLOW_SUBSCRIBER, with the last seq of
                each stream in the metadata; what every call may fail with.
        """
        message = to_request(event_service_pb2.SubscribeEventsRequest, request, {"streams": streams, "follow_children": follow_children, "filter": filter, "no_follow": no_follow})
        return self._channel.stream("/forge.event.v1.EventService/SubscribeEvents", message, event_service_pb2.SubscribeEventsResponse, timeout, cancellation)

    def watch_streams(
        self,
        request: event_service_pb2.WatchStreamsRequest | None = None,
        /,
        *,
        kind: common_pb2.StreamKind | str | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> ResponseStream[event_service_pb2.WatchStreamsResponse]:
        """Tells which streams of the namespace have moved, for lists: first `ready`, from which on nothing is missed, then
        each stream that changed, as it is listed now. Changes that come faster than they are read are told once, in
        their newest state. List after `ready`.

        Args:
            request: The request as a message, in place of its fields.
            kind: Unset: every kind.
            labels: All must match; at most 32.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(event_service_pb2.WatchStreamsRequest, request, {"kind": kind, "labels": labels})
        return self._channel.stream("/forge.event.v1.EventService/WatchStreams", message, event_service_pb2.WatchStreamsResponse, timeout, cancellation)

    def get_command_result(
        self,
        request: event_service_pb2.GetCommandResultRequest | None = None,
        /,
        *,
        stream: common_pb2.StreamRef | Mapping[str, Any] | None = None,
        command_id: str | None = None,
        create_kind: common_pb2.StreamKind | str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> event_service_pb2.GetCommandResultResponse:
        """What became of a command whose answer was lost.

        Args:
            request: The request as a message, in place of its fields.
            stream: Unset for a create: its stream derives from kind and command id.
            create_kind: Of a create.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found (it had no effect and may be sent again); what every call may fail with.
        """
        message = to_request(event_service_pb2.GetCommandResultRequest, request, {"stream": stream, "command_id": command_id, "create_kind": create_kind})
        return self._channel.unary("/forge.event.v1.EventService/GetCommandResult", message, event_service_pb2.GetCommandResultResponse, timeout, cancellation)


class TokenService:
    """Grants and revokes tokens. Every rpc needs the role admin. What a token grants, its caller must have: no namespace
    beyond its own.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def create_token(
        self,
        request: token_pb2.CreateTokenRequest | None = None,
        /,
        *,
        grant: token_pb2.TokenGrant | Mapping[str, Any] | None = None,
        token_sha256: bytes | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> token_pb2.CreateTokenResponse:
        """Makes a token known. The caller makes the token itself and sends only its hash, so that no other ever has it.
        Idempotent by content: the same name with the same grant and hash is the same token.

        Args:
            request: The request as a message, in place of its fields.
            token_sha256: SHA-256 of the token's text, 32 bytes. The text: `forge_` and 43 characters of base64url, 256
                random bits.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; permission_denied (a namespace that the caller does not have); conflict,
                TOKEN_EXISTS; what every call may fail with.
        """
        message = to_request(token_pb2.CreateTokenRequest, request, {"grant": grant, "token_sha256": token_sha256})
        return self._channel.unary("/forge.token.v1.TokenService/CreateToken", message, token_pb2.CreateTokenResponse, timeout, cancellation)

    def list_tokens(
        self,
        request: token_pb2.ListTokensRequest | None = None,
        /,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> token_pb2.ListTokensResponse:
        """Tokens, by name.

        Args:
            request: The request as a message, in place of its fields.
            page_size: At most 500; 0: 50.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(token_pb2.ListTokensRequest, request, {"page_size": page_size, "page_token": page_token})
        return self._channel.unary("/forge.token.v1.TokenService/ListTokens", message, token_pb2.ListTokensResponse, timeout, cancellation)

    def revoke_token(
        self,
        request: token_pb2.RevokeTokenRequest | None = None,
        /,
        *,
        name: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> token_pb2.RevokeTokenResponse:
        """Withdraws a token; calls with it are refused within 5 seconds. Idempotent.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; conflict, TOKEN_IN_USE (the caller's own); what every call may fail with.
        """
        message = to_request(token_pb2.RevokeTokenRequest, request, {"name": name})
        return self._channel.unary("/forge.token.v1.TokenService/RevokeToken", message, token_pb2.RevokeTokenResponse, timeout, cancellation)


class WorkerService:
    """Spoken by every worker: executor, evaluator, or a user's own."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def register(
        self,
        request: worker_pb2.RegisterRequest | None = None,
        /,
        *,
        version: common_pb2.ProtocolVersion | Mapping[str, Any] | None = None,
        worker_name: str | None = None,
        queues: Iterable[str] | None = None,
        capabilities: Iterable[worker_pb2.Capability | Mapping[str, Any]] | None = None,
        slots: int | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.RegisterResponse:
        """Joins with what the worker can do. A worker that registers again under its name gives up its old incarnation's
        leases at once.

        Args:
            request: The request as a message, in place of its fields.
            worker_name: Stable over restarts, unique among live workers of the namespace; at most 128 characters.
            queues: At most 64.
            capabilities: At most 4,096.
            slots: Tasks at once, 1 to 10,000.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: unsupported_version; permission_denied (more than the credential grants); validation; what every
                call may fail with.
        """
        message = to_request(worker_pb2.RegisterRequest, request, {"version": version, "worker_name": worker_name, "queues": queues, "capabilities": capabilities, "slots": slots, "labels": labels})
        return self._channel.unary("/forge.worker.v1.WorkerService/Register", message, worker_pb2.RegisterResponse, timeout, cancellation)

    def lease_tasks(
        self,
        request: worker_pb2.LeaseTasksRequest | None = None,
        /,
        *,
        worker_session_id: str | None = None,
        slots: int | None = None,
        wait: duration_pb2.Duration | datetime.timedelta | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.LeaseTasksResponse:
        """Waits for tasks, at most `wait`, and leases up to `slots` of them.

        Args:
            request: The request as a message, in place of its fields.
            slots: Free slots, 1 to 10,000.
            wait: At most 60 s.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, WORKER_SESSION (register again); what every call may fail with.
        """
        message = to_request(worker_pb2.LeaseTasksRequest, request, {"worker_session_id": worker_session_id, "slots": slots, "wait": wait})
        return self._channel.unary("/forge.worker.v1.WorkerService/LeaseTasks", message, worker_pb2.LeaseTasksResponse, timeout, cancellation)

    def start_tasks(
        self,
        request: worker_pb2.StartTasksRequest | None = None,
        /,
        *,
        worker_session_id: str | None = None,
        starts: Iterable[worker_pb2.TaskStart | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.StartTasksResponse:
        """Records that tasks start and gives the go-ahead; required for what needs a start. Each task is answered by
        itself.

        Args:
            request: The request as a message, in place of its fields.
            starts: At most 1,000.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: What every call may fail with.
        """
        message = to_request(worker_pb2.StartTasksRequest, request, {"worker_session_id": worker_session_id, "starts": starts})
        return self._channel.unary("/forge.worker.v1.WorkerService/StartTasks", message, worker_pb2.StartTasksResponse, timeout, cancellation)

    def heartbeat(
        self,
        request: worker_pb2.HeartbeatRequest | None = None,
        /,
        *,
        worker_session_id: str | None = None,
        held: Iterable[common_pb2.TaskLease | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.HeartbeatResponse:
        """Names the tasks held and extends their leases; what is not named is redelivered. Answers with cancellations.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, WORKER_SESSION; what every call may fail with.
        """
        message = to_request(worker_pb2.HeartbeatRequest, request, {"worker_session_id": worker_session_id, "held": held})
        return self._channel.unary("/forge.worker.v1.WorkerService/Heartbeat", message, worker_pb2.HeartbeatResponse, timeout, cancellation)

    def report_output(
        self,
        request: worker_pb2.ReportOutputRequest | None = None,
        /,
        *,
        worker_session_id: str | None = None,
        deltas: Iterable[worker_pb2.OutputDelta | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.ReportOutputResponse:
        """Carries output while a task runs; deduplicated by task, epoch and offset.

        Args:
            request: The request as a message, in place of its fields.
            deltas: At most 1,000.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: What every call may fail with.
        """
        message = to_request(worker_pb2.ReportOutputRequest, request, {"worker_session_id": worker_session_id, "deltas": deltas})
        return self._channel.unary("/forge.worker.v1.WorkerService/ReportOutput", message, worker_pb2.ReportOutputResponse, timeout, cancellation)

    def settle_tasks(
        self,
        request: worker_pb2.SettleTasksRequest | None = None,
        /,
        *,
        worker_session_id: str | None = None,
        settlements: Iterable[worker_pb2.Settlement | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.SettleTasksResponse:
        """Settles tasks; idempotent; each task is answered by itself.

        Args:
            request: The request as a message, in place of its fields.
            settlements: At most 1,000.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: What every call may fail with.
        """
        message = to_request(worker_pb2.SettleTasksRequest, request, {"worker_session_id": worker_session_id, "settlements": settlements})
        return self._channel.unary("/forge.worker.v1.WorkerService/SettleTasks", message, worker_pb2.SettleTasksResponse, timeout, cancellation)

    def drain(
        self,
        request: worker_pb2.DrainRequest | None = None,
        /,
        *,
        worker_session_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> worker_pb2.DrainResponse:
        """No new tasks for this worker; what it holds it may finish.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: What every call may fail with.
        """
        message = to_request(worker_pb2.DrainRequest, request, {"worker_session_id": worker_session_id})
        return self._channel.unary("/forge.worker.v1.WorkerService/Drain", message, worker_pb2.DrainResponse, timeout, cancellation)


class ScheduleService:
    """Keeps schedules. A schedule's run starts once for each of its times, whatever control planes come and go; it has the
    label schedule_id and the principal `schedule:<id>`. Times are looked at by the clock of the database: one that
    steps back delays the next time, and none is taken twice.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def put_schedule(
        self,
        request: schedule_pb2.PutScheduleRequest | None = None,
        /,
        *,
        schedule_id: str | None = None,
        spec: schedule_pb2.ScheduleSpec | Mapping[str, Any] | None = None,
        paused: bool | None = None,
        note: str | None = None,
        expected_revision: int | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.PutScheduleResponse:
        """Creates a schedule, or replaces the one with this id. Idempotent by content: the same again changes nothing. Its
        workers need not be there. A new one, or one whose times have changed, begins now: no time before is made up
        for.

        Args:
            request: The request as a message, in place of its fields.
            schedule_id: 1 to 64 of letters, digits and `.-_:@`.
            paused: Absent: as it is; a new one is not paused.
            note: At most 1,024 characters. Absent: as it is.
            expected_revision: Only where this is its revision; 0: only where it does not exist. Absent: not looked at.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation (an expression, a time zone, the definition, an input); conflict, SCHEDULE_CHANGED;
                what every call may fail with.
        """
        message = to_request(schedule_pb2.PutScheduleRequest, request, {"schedule_id": schedule_id, "spec": spec, "paused": paused, "note": note, "expected_revision": expected_revision})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/PutSchedule", message, schedule_pb2.PutScheduleResponse, timeout, cancellation)

    def get_schedule(
        self,
        request: schedule_pb2.GetScheduleRequest | None = None,
        /,
        *,
        schedule_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.GetScheduleResponse:
        """A schedule with all that it starts.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, SCHEDULE_NOT_FOUND; what every call may fail with.
        """
        message = to_request(schedule_pb2.GetScheduleRequest, request, {"schedule_id": schedule_id})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/GetSchedule", message, schedule_pb2.GetScheduleResponse, timeout, cancellation)

    def list_schedules(
        self,
        request: schedule_pb2.ListSchedulesRequest | None = None,
        /,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.ListSchedulesResponse:
        """Schedules, by id.

        Args:
            request: The request as a message, in place of its fields.
            page_size: At most 500; 0: 50.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(schedule_pb2.ListSchedulesRequest, request, {"page_size": page_size, "page_token": page_token})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/ListSchedules", message, schedule_pb2.ListSchedulesResponse, timeout, cancellation)

    def pause_schedule(
        self,
        request: schedule_pb2.PauseScheduleRequest | None = None,
        /,
        *,
        schedule_id: str | None = None,
        note: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.PauseScheduleResponse:
        """No time is taken until the schedule is continued; a run that waits for the one before is given up. Idempotent.

        Args:
            request: The request as a message, in place of its fields.
            note: At most 1,024 characters. Absent: as it is.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, SCHEDULE_NOT_FOUND; what every call may fail with.
        """
        message = to_request(schedule_pb2.PauseScheduleRequest, request, {"schedule_id": schedule_id, "note": note})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/PauseSchedule", message, schedule_pb2.PauseScheduleResponse, timeout, cancellation)

    def continue_schedule(
        self,
        request: schedule_pb2.ContinueScheduleRequest | None = None,
        /,
        *,
        schedule_id: str | None = None,
        note: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.ContinueScheduleResponse:
        """Times are taken again from now on: those of the pause are not made up for. Idempotent.

        Args:
            request: The request as a message, in place of its fields.
            note: At most 1,024 characters. Absent: as it is.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, SCHEDULE_NOT_FOUND; what every call may fail with.
        """
        message = to_request(schedule_pb2.ContinueScheduleRequest, request, {"schedule_id": schedule_id, "note": note})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/ContinueSchedule", message, schedule_pb2.ContinueScheduleResponse, timeout, cancellation)

    def delete_schedule(
        self,
        request: schedule_pb2.DeleteScheduleRequest | None = None,
        /,
        *,
        schedule_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.DeleteScheduleResponse:
        """Forgets a schedule and its past times. Runs that it has started go on.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, SCHEDULE_NOT_FOUND; what every call may fail with.
        """
        message = to_request(schedule_pb2.DeleteScheduleRequest, request, {"schedule_id": schedule_id})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/DeleteSchedule", message, schedule_pb2.DeleteScheduleResponse, timeout, cancellation)

    def trigger_schedule(
        self,
        request: schedule_pb2.TriggerScheduleRequest | None = None,
        /,
        *,
        header: common_pb2.CommandHeader | Mapping[str, Any] | None = None,
        schedule_id: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.TriggerScheduleResponse:
        """Starts a schedule's run now, whatever its overlap policy says, also while it is paused. The run's id derives
        from schedule and command id, so retries meet.

        Args:
            request: The request as a message, in place of its fields.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, SCHEDULE_NOT_FOUND; as WorkflowService.StartRun; what every call may fail with.
        """
        message = to_request(schedule_pb2.TriggerScheduleRequest, request, {"header": header, "schedule_id": schedule_id})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/TriggerSchedule", message, schedule_pb2.TriggerScheduleResponse, timeout, cancellation)

    def list_schedule_times(
        self,
        request: schedule_pb2.ListScheduleTimesRequest | None = None,
        /,
        *,
        schedule_id: str | None = None,
        upcoming: int | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> schedule_pb2.ListScheduleTimesResponse:
        """The times to come, and those that were taken with what became of them.

        Args:
            request: The request as a message, in place of its fields.
            upcoming: How many times to come; at most 100.
            page_size: Of past times: at most 500; 0: 50.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found, SCHEDULE_NOT_FOUND; validation; what every call may fail with.
        """
        message = to_request(schedule_pb2.ListScheduleTimesRequest, request, {"schedule_id": schedule_id, "upcoming": upcoming, "page_size": page_size, "page_token": page_token})
        return self._channel.unary("/forge.workflow.v1.ScheduleService/ListScheduleTimes", message, schedule_pb2.ListScheduleTimesResponse, timeout, cancellation)


class WorkspaceService:
    """Keeps revisions of workspaces. A revision is the full manifest of a directory; the files' contents are artifacts.
    Its id is the hash of its manifest, so the same directory has the same revision everywhere.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def create_revision(
        self,
        request: workspace_pb2.CreateRevisionRequest | None = None,
        /,
        *,
        manifest: workspace_pb2.Manifest | Mapping[str, Any] | None = None,
        manifest_artifact: common_pb2.ArtifactRef | Mapping[str, Any] | None = None,
        parent_id: str | None = None,
        label: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workspace_pb2.CreateRevisionResponse:
        """Keeps a revision. Idempotent by content.

        Args:
            request: The request as a message, in place of its fields.
            manifest: The manifest, inline up to 1 MiB encoded.
            manifest_artifact: Or as an artifact of media type application/x-protobuf.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation (a path that leaves the directory, order, duplicates); conflict, ARTIFACT_MISSING,
                with the first hashes in related_ids: put those artifacts first; what every call may fail with.
        """
        message = to_request(workspace_pb2.CreateRevisionRequest, request, {"manifest": manifest, "manifest_artifact": manifest_artifact, "parent_id": parent_id, "label": label})
        return self._channel.unary("/forge.workspace.v1.WorkspaceService/CreateRevision", message, workspace_pb2.CreateRevisionResponse, timeout, cancellation)

    def get_revision(
        self,
        request: workspace_pb2.GetRevisionRequest | None = None,
        /,
        *,
        revision_id: str | None = None,
        after_path: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workspace_pb2.GetRevisionResponse:
        """A revision with a part of its manifest, in order of the paths.

        Args:
            request: The request as a message, in place of its fields.
            after_path: Entries after this path; empty: from the first on.
            page_size: At most 5,000; 0: 1,000.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: not_found; validation; what every call may fail with.
        """
        message = to_request(workspace_pb2.GetRevisionRequest, request, {"revision_id": revision_id, "after_path": after_path, "page_size": page_size})
        return self._channel.unary("/forge.workspace.v1.WorkspaceService/GetRevision", message, workspace_pb2.GetRevisionResponse, timeout, cancellation)

    def list_revisions(
        self,
        request: workspace_pb2.ListRevisionsRequest | None = None,
        /,
        *,
        page_size: int | None = None,
        page_token: str | None = None,
        label: str | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> workspace_pb2.ListRevisionsResponse:
        """Revisions, newest first.

        Args:
            request: The request as a message, in place of its fields.
            page_size: At most 500; 0: 50.
            label: Empty: any.
            timeout: Seconds; `deadline_exceeded` comes after it. None: no deadline.
            cancellation: Gives the call up from another thread, which then fails with `cancelled`.

        Raises:
            ForgeError: validation; what every call may fail with.
        """
        message = to_request(workspace_pb2.ListRevisionsRequest, request, {"page_size": page_size, "page_token": page_token, "label": label})
        return self._channel.unary("/forge.workspace.v1.WorkspaceService/ListRevisions", message, workspace_pb2.ListRevisionsResponse, timeout, cancellation)
