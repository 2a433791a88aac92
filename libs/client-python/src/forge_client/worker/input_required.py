"""How a tool asks a person."""

from typing import Any

from forge_client.worker.json_values import to_json, well_formed

_QUESTION_LENGTH_MAX = 4096
_RESUME_BYTES_MAX = 16 * 1024


class InputRequired(Exception):  # noqa: N818 -- no error: the call goes on once it is answered.
    """Raised by a tool that can't go on before a person has answered: the call ends here, and is made again with the answer in `context.inputs`.

    Args:
        question: 1 to 4,096 characters.
        resume: What the call needs to go on, as at most 16 KiB of JSON; comes back as `context.resume`.

    Raises:
        ValueError: a question or something to resume with that can't be kept.
    """

    def __init__(self, question: str, resume: Any = None) -> None:
        super().__init__(question)
        if not 0 < len(question) <= _QUESTION_LENGTH_MAX:
            raise ValueError(f"the question has {len(question)} characters: it must have 1 to {_QUESTION_LENGTH_MAX}")
        self.question = well_formed(question)
        # Empty where there is nothing.
        self.resume_json = "" if resume is None else to_json(resume)
        size = len(self.resume_json.encode())
        if size > _RESUME_BYTES_MAX:
            raise ValueError(f"what the call is to resume with has {size} bytes: at most {_RESUME_BYTES_MAX}")
