"""One invocation of a function and how it ends, in Lambda's terms."""

import json
from dataclasses import dataclass, field

# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; a response may be a little larger than a
# request, for the envelope around it.
REQUEST_LIMIT_BYTES = 6_291_456
RESPONSE_LIMIT_BYTES = 6_291_556
EVENT_LIMIT_BYTES = 1_048_576
_LOG_TAIL_BYTES = 4_096


@dataclass(frozen=True)
class Outcome:
    """What an invocation came to.

    `payload` is what the function returned or the error object; `error` is True for any failure. `log_tail` is the end
    of what it printed, at most 4 KiB.
    """

    payload: bytes
    error: bool = False
    log_tail: bytes = b""


@dataclass
class Invocation:
    """A request on its way to a worker."""

    request_id: str
    payload: bytes
    client_context: str | None = None
    trace_id: str = ""
    log: bytearray = field(default_factory=bytearray)

    def add_log(self, line: str) -> None:
        """Keeps a printed line for the log tail."""
        self.log += line.encode() + b"\n"
        del self.log[:-_LOG_TAIL_BYTES]

    def succeeded(self, payload: bytes) -> Outcome:
        """The outcome for an answer of the function, unless it is over the limit."""
        if len(payload) > RESPONSE_LIMIT_BYTES:
            text = f"Response payload size exceeded maximum allowed payload size ({RESPONSE_LIMIT_BYTES} bytes)."
            return self.failed(error_object("Function.ResponseSizeTooLarge", text))
        return Outcome(payload, log_tail=bytes(self.log))

    def failed(self, error: bytes) -> Outcome:
        """The outcome for an error object."""
        return Outcome(error, error=True, log_tail=bytes(self.log))

    def timed_out(self, limit_s: float) -> Outcome:
        """The outcome when the function's time ran out."""
        return self._ended("Sandbox.Timedout", f"Task timed out after {limit_s:.2f} seconds")

    def out_of_memory(self) -> Outcome:
        """The outcome when the worker held more than the function's memory."""
        return self._ended("Runtime.OutOfMemory", "Runtime exited with error: signal: killed")

    def exited(self, return_code: int) -> Outcome:
        """The outcome when the worker ended by itself; a negative code is a signal's number."""
        if return_code == 0:
            return self._ended("Runtime.ExitError", "Runtime exited without providing a reason")
        how = f"exit status {return_code}" if return_code > 0 else f"signal: {_signal_name(-return_code)}"
        return self._ended("Runtime.ExitError", f"Runtime exited with error: {how}")

    def _ended(self, kind: str, text: str) -> Outcome:
        return self.failed(error_object(kind, f"RequestId: {self.request_id} Error: {text}"))


def error_object(kind: str, text: str) -> bytes:
    """Lambda's error object for a failure that has no stack trace."""
    return json.dumps({"errorType": kind, "errorMessage": text}).encode()


def _signal_name(number: int) -> str:
    """A signal as Go's runtime, which Lambda's supervisor is written in, spells it."""
    names = {6: "aborted", 9: "killed", 11: "segmentation fault", 15: "terminated"}
    return names.get(number, str(number))
