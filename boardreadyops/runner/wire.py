"""How a message is written: strict, bounded fields, and one reader that never fails with an exception.

Unknown fields are ignored. NUL and lone surrogates in text become U+FFFD, for neither PostgreSQL nor UTF-8 holds them;
pydantic's own JSON reader refuses the latter, so bodies are read by `read_message`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, NoReturn, TypeVar
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
)

from boardreadyops.config import Secret
from boardreadyops.domain.plain_text import one_line, storable

MAX_NAME_CHARACTERS = 100
MAX_TOKEN_ANSWER_CHARACTERS = 4_000  # GitHub's tokens too, whose form is GitHub's affair
MAX_REFUSAL_CHARACTERS = 500


def _storable(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


def _to_secret(value: object) -> Secret:
    token = Secret(value) if isinstance(value, str) else value
    text = token.reveal() if isinstance(token, Secret) else ""
    # Tokens go into headers: nothing but visible ASCII gets that far.
    if not 0 < len(text) <= MAX_TOKEN_ANSWER_CHARACTERS or not all("!" <= mark <= "~" for mark in text):
        raise ValueError(f"a token is 1 to {MAX_TOKEN_ANSWER_CHARACTERS} visible ASCII characters")
    return Secret(text)


Text = Annotated[str, BeforeValidator(_storable)]
Name = Annotated[Text, StringConstraints(min_length=1, max_length=MAX_NAME_CHARACTERS)]
Sha = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
# On the wire an id or a time is text; strict mode would take only Python's own objects.
Id = Annotated[UUID, Field(strict=False)]
Moment = Annotated[AwareDatetime, Field(strict=False)]
Token = Annotated[
    Secret,
    PlainValidator(_to_secret),
    PlainSerializer(lambda token: token.reveal(), return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_TOKEN_ANSWER_CHARACTERS}),
]


class Message(BaseModel):
    """One message. Errors never repeat what was sent, for that can be a token."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="ignore", hide_input_in_errors=True, allow_inf_nan=False
    )

    def to_bytes(self) -> bytes:
        """The message as JSON in UTF-8, tokens in the clear: for the wire only."""
        return self.model_dump_json(by_alias=True).encode()


@dataclass(frozen=True, slots=True)
class Refused:
    """A body that is not the message it should be: where and why, in one line that repeats nothing of it."""

    detail: str


Read = TypeVar("Read", bound=Message)


def read_message(model: type[Read], body: bytes) -> Read | Refused:
    """The message in a body; the caller has bounded its size."""
    try:
        document = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        return Refused("the body is not UTF-8")
    except (ValueError, RecursionError):
        return Refused("the body is not JSON")
    if not isinstance(document, dict):
        return Refused("the body is not a JSON object")
    try:
        return model.model_validate(document)
    except ValidationError as error:
        return Refused(_first_fault(error))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON's


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part)[:MAX_NAME_CHARACTERS] for part in fault["loc"])
    words = fault["msg"].removeprefix("Value error, ")
    line = f"{place}: {words}" if place else words
    return one_line(line, limit_characters=MAX_REFUSAL_CHARACTERS)
