"""A running task's output on its way."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from forge_client.errors import ForgeError
from forge_client.protocol.common import TaskLease
from forge_client.protocol.event import ToolArgumentsDelta, ToolOutputDelta, TurnOutputDelta, UserProgressReported, UserStructuredReported
from forge_client.protocol.worker import OutputDelta
from forge_client.worker.json_values import utf16_length

# Between two reports of one task.
_INTERVAL_S = 0.05
# Characters after which a report goes at once.
_CHARACTERS_MAX = 4096
# Characters that wait at most; what comes while so much waits is left out, which its offset shows.
_WAITING_MAX = 1024 * 1024

# What a piece is of: "tool", "text", "reasoning", or a model's call with the provider's id and the tool's name.
Channel = str | tuple[str, str]


class Output:
    """
    The first piece goes at once, then every 50 ms or 4 KiB. What is left when the task ends is dropped, since its settlement carries the whole; a report that
    fails loses nothing but the view of it.
    """

    def __init__(self, lease: TaskLease, send: Callable[[list[OutputDelta]], Awaitable[None]]) -> None:
        self._lease = lease
        self._send = send
        # Channel, offset, text; notes as they are sent.
        self._pieces: list[tuple[Channel, int, str] | OutputDelta] = []
        self._offsets: dict[Channel, int] = {}
        self._waiting = 0
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._ended = False
        # Whether any came: then a call can't be repeated unnoticed.
        self.has_any = False

    def push(self, channel: Channel, text: str) -> None:
        if text == "" or self._ended:
            return
        self.has_any = True
        offset = self._offsets.get(channel, 0)
        self._offsets[channel] = offset + utf16_length(text)
        if self._waiting > _WAITING_MAX:
            return
        self._waiting += len(text)
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, tuple) and last[0] == channel and last[1] + utf16_length(last[2]) == offset:
            self._pieces[-1] = (channel, last[1], last[2] + text)
        else:
            self._pieces.append((channel, offset, text))
        self._schedule()

    def note(self, note: UserProgressReported | UserStructuredReported) -> None:
        """Something beside the text; the process that tells it bounds how much."""
        if self._ended:
            return
        note.epoch = self._lease.epoch
        is_progress = isinstance(note, UserProgressReported)
        self._pieces.append(OutputDelta(lease=self._lease, progress=note) if is_progress else OutputDelta(lease=self._lease, structured=note))
        self._schedule()

    def end(self) -> None:
        self._ended = True
        self._pieces = []
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self) -> None:
        if self._sending is not None or not self._pieces or self._ended:
            return
        wait = 0.0 if self._waiting >= _CHARACTERS_MAX else max(0.0, self._last + _INTERVAL_S - time.monotonic())
        if self._timer is not None:
            self._timer.cancel()
        # "At once" is after this turn of the event loop: what came in one piece goes in one report, and what is settled by then needs none.
        self._timer = asyncio.get_running_loop().call_later(wait, self._begin)

    def _begin(self) -> None:
        self._sending = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        deltas = [self._delta(*piece) if isinstance(piece, tuple) else piece for piece in self._pieces]
        self._pieces = []
        self._waiting = 0
        self._last = time.monotonic()
        try:
            await self._send(deltas)
        except ForgeError:
            # Output is a view: the settlement carries the whole, so a failed report is not tried again.
            pass
        finally:
            self._sending = None
        self._schedule()

    def _delta(self, channel: Channel, offset: int, text: str) -> OutputDelta:
        epoch = self._lease.epoch
        if channel == "tool":
            return OutputDelta(lease=self._lease, tool=ToolOutputDelta(offset=offset, text=text, epoch=epoch))
        if channel == "text":
            return OutputDelta(lease=self._lease, turn=TurnOutputDelta(offset=offset, text=text, epoch=epoch))
        if channel == "reasoning":
            return OutputDelta(lease=self._lease, turn=TurnOutputDelta(offset=offset, reasoning=text, epoch=epoch))
        call_id, tool = channel
        arguments = ToolArgumentsDelta(provider_call_id=call_id, tool=tool, arguments_json=text)
        return OutputDelta(lease=self._lease, turn=TurnOutputDelta(offset=offset, tool_arguments=arguments, epoch=epoch))
