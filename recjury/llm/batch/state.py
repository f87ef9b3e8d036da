"""What an endpoint says of a batch."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, JsonValue

EXPIRY_SECONDS = 31 * 86_400  # files of batches expire after 30 days
_WITH_REPLIES = frozenset({"completed", "expired", "cancelled"})
_ACCEPTED = _WITH_REPLIES | {"in_progress", "finalizing"}
_ENDED = _WITH_REPLIES | {"failed"}


class RequestCounts(BaseModel):
    """How many requests a batch has, and how many of them were answered and failed."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class LineError(BaseModel):
    """Why a batch was refused as a whole; `line` is the number of the line at fault, from 1."""

    code: str | None = None
    message: str | None = None
    line: int | None = None


class ErrorList(BaseModel):
    """The errors of a batch that was refused."""

    data: list[LineError] = Field(default_factory=list)


_Lower = Annotated[str, AfterValidator(str.lower)]
_Seconds = Annotated[
    float | None, BeforeValidator(lambda given: given if isinstance(given, int | float) else None)
]


class BatchState(BaseModel):
    """A batch as the endpoint describes it; times are in seconds since 1970.

    A status that is not known says that it is under way: endpoints have more of them than OpenAI.
    """

    id: str
    status: _Lower
    input_file_id: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    metadata: dict[str, JsonValue] | None = None
    created_at: _Seconds = None
    expires_at: _Seconds = None
    request_counts: RequestCounts | None = None
    errors: ErrorList | None = None

    @property
    def counts(self) -> RequestCounts:
        """The numbers of its requests; 0 as long as the endpoint gives none."""
        return self.request_counts or RequestCounts()

    @property
    def is_active(self) -> bool:
        """Whether it is under way, or its replies are."""
        return self.status not in _ENDED or self.lacks_output

    @property
    def is_accepted(self) -> bool:
        """Whether its requests are being answered, so it is not refused as a whole any more."""
        return self.status in _ACCEPTED

    @property
    def has_replies(self) -> bool:
        """Whether it has ended with replies to read."""
        return self.status in _WITH_REPLIES and bool(self.output_file_id)

    def seconds_left(self, now: float, window: float) -> float:
        """The time until it should end, by `expires_at`, else the `window`; negative if late."""
        begun = self.created_at or now
        if self.created_at and self.expires_at and self.expires_at > begun:
            window = min(self.expires_at - begun, EXPIRY_SECONDS)
        return window - max(0.0, now - begun)

    @property
    def lacks_output(self) -> bool:
        """Whether it has replies, but does not name their file yet."""
        return self.status in _WITH_REPLIES and self.counts.completed > 0 and not self.has_replies
