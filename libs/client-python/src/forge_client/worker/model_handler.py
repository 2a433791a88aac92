"""Serves a provider's models: each call in a child process."""

import json
import time
from collections.abc import Mapping
from typing import Any

import forge_client
from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.event import ModelCompleted
from forge_client.protocol.worker import ModelResult
from forge_client.worker.child_pool import ChildPool, StartError
from forge_client.worker.child_process import Answer, ChildProcess
from forge_client.worker.compaction_run import CompactionRun
from forge_client.worker.model_answer import ModelAnswer
from forge_client.worker.model_request import ModelRequest, read_request
from forge_client.worker.outcomes import Outcome, cancelled, failure, milliseconds
from forge_client.worker.running_task import TaskContext
from forge_client.worker.user_handler import UserHandler, answer_error, exit_error, listener_of, stop_unconfirmed
from forge_client.worker.view import WorkerView


class ModelHandler(UserHandler):
    """Never tries again by itself; whether to is decided by the control plane, from the failure."""

    def __init__(self, capability: Mapping[str, Any], pool: ChildPool, view: WorkerView) -> None:
        super().__init__(capability, pool, view)
        self.versions = {"forge-client": forge_client.__version__}

    async def outcome(self, context: TaskContext) -> Outcome:
        run = CompactionRun(self, context) if context.task.WhichOneof("kind") == "compaction" else _ModelRun(self, context)
        return await run.settled()


class _ModelRun:
    def __init__(self, handler: ModelHandler, context: TaskContext) -> None:
        self._handler = handler
        self._context = context
        task = context.task.model
        self._answer = ModelAnswer(handler.name, task.model.partition("/")[2], context.output)
        self._started_at = time.monotonic()
        self._first_output_at: float | None = None

    async def settled(self) -> Outcome:
        try:
            return await self._settle(await self._perform())
        except ForgeError as error:
            if error.reason == "LEASE_LOST":
                raise
            return self._failed(error)

    async def _perform(self) -> Answer:
        request = await read_request(self._context.task.model, self._context.payloads)

        async def act(child: ChildProcess) -> Answer:
            self._context.clock.begin()
            call = {"capability": ["model", self._handler.name], "model": request.to_call(), "deadline": self._context.clock.deadline}
            prepared = await child.prepare(call, self._context.stop.event)
            if prepared.kind != "done":
                return prepared
            try:
                await self._start(request)
            except BaseException:
                child.abandon()
                raise
            return await child.run(listener_of(self._handler, self._context, self._frame), self._context.stop.event)

        self._context.clock.hold()
        try:
            return await self._handler.pool.use(act)
        except StartError as error:
            return error.answer

    async def _start(self, request: ModelRequest) -> None:
        await self._context.start(request.started(self._context.epoch, self._handler.versions))
        self._context.stop.raise_if_set()
        self._started_at = time.monotonic()

    def _frame(self, kind: str, payload: Any) -> None:
        if kind != "M":
            return
        self._answer.accept(payload)
        if self._first_output_at is None and self._answer.has_output:
            self._first_output_at = time.monotonic()

    async def _settle(self, answer: Answer) -> Outcome:
        name = self._handler.name
        if answer.kind in ("exited", "interrupted") and not answer.stopped:
            return failure(stop_unconfirmed(name), self._seconds(), unknown=True)
        if answer.kind == "done":
            return await self._completed()
        if answer.kind == "interrupted" or self._context.stop.reason is not None:
            return self._failed(self._context.stop.reason or stop_unconfirmed(name))
        if answer.kind == "exited":
            # A model call changes nothing in the world.
            return self._failed(exit_error(name, answer, retryable=True))
        return self._failed(answer_error(self._handler, answer.payload))

    async def _completed(self) -> Outcome:
        now = time.monotonic()
        answer = self._answer
        completed = ModelCompleted(
            parts=await answer.parts(self._context.payloads),
            finish_reason=answer.finish_reason,
            provider_model=answer.provider_model,
            provider_metadata_json=json.dumps({"provider": self._handler.name, "model": self._context.task.model.model.partition("/")[2]}),
            duration_ms=milliseconds(now - self._started_at),
            first_output_ms=milliseconds((self._first_output_at or now) - self._started_at),
        )
        return {"model": ModelResult(completed=completed, usage=answer.usage)}

    def _failed(self, error: ForgeError) -> Outcome:
        reason = self._context.stop.reason
        if reason is not None and reason.code != ErrorCode.DEADLINE_EXCEEDED:
            return cancelled()
        return failure(reason or error, self._seconds(), after_output=self._answer.has_output, usage=self._answer.usage)

    def _seconds(self) -> float:
        return time.monotonic() - self._started_at
