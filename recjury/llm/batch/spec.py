"""The settings of a model that is asked in batches."""

from typing import Literal

from pydantic import Field

from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.prices import TablePrice
from recjury.records import JSON

_OF_NO_REPLY = (
    "batch_size",
    "batch_mb",
    "batches",
    "wait",
    "poll",
    "window",
    "discount",
    "keep_files",
)

_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86_400.0}


class BatchModelSpec(EndpointSpec):
    """One model behind an endpoint with OpenAI's Batch API.

    Its replies are those of the same model under `provider: openai`, so stored replies of one are
    reused by the other. A file has at most `batch_size` requests and `batch_mb` million bytes, and
    is sent when it is full or when no further call has come for `wait` seconds. At most `batches`
    are under way at once. A batch is asked for at growing intervals of up to `poll` seconds;
    `window` is the time in which the endpoint promises to answer it, such as 24h or 7d: one that is
    an hour late is cancelled, and another hour later it is given up. `discount` is the part of
    the price in the table that a batch saves; prices of the file are taken as they are. The files
    of a batch are deleted at the endpoint once all its replies are stored, unless `keep_files`.
    """

    provider: Literal["openai-batch"] = "openai-batch"  # type: ignore[assignment]
    batch_size: int = Field(default=10_000, ge=1, le=50_000)
    batch_mb: float = Field(default=100, gt=0, le=200)
    batches: int = Field(default=4, ge=1, le=100)
    wait: float = Field(default=10, gt=0, allow_inf_nan=False)
    poll: float = Field(default=60, gt=0, allow_inf_nan=False)
    window: str = Field(default="24h", min_length=1, max_length=20)
    discount: float = Field(default=0.5, ge=0, lt=1)
    keep_files: bool = False

    @property
    def window_seconds(self) -> float:
        """The `window` in seconds; a day, if it is in words of the endpoint's own."""
        number, unit = self.window[:-1], self.window[-1]
        if number.isdecimal() and unit in _SECONDS:
            return int(number) * _SECONDS[unit]
        return _SECONDS["d"]

    @property
    def takes_slots(self) -> bool:
        """Calls wait for hours, and `batches` limits them."""
        return False

    @property
    def table_price(self) -> TablePrice | None:
        """The price from the table less the discount, if no price is set and the table has one."""
        found = super().table_price
        if found is None or not self.discount:
            return found
        bands = tuple(
            band._replace(
                per_prompt=self._reduced(band.per_prompt) or 0.0,
                per_completion=self._reduced(band.per_completion),
                per_cached=self._reduced(band.per_cached),
            )
            for band in found.bands
        )
        return TablePrice(bands, f"{found.source}, less {self.discount:.0%} in batches")

    def reply_settings(self) -> dict[str, JSON]:
        """As for the same model without batches."""
        settings = super().reply_settings()
        return {name: value for name, value in settings.items() if name not in _OF_NO_REPLY}

    def _reduced(self, price: float | None) -> float | None:
        return None if price is None else price * (1 - self.discount)
