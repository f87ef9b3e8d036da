"""An own rubric: read from YAML, and checked."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StrictInt, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails

from recjury.errors import ConfigError
from recjury.judges.guideline import Input
from recjury.mistakes import mistake
from recjury.records import Metric, Need, Record, metric_id
from recjury.yaml_files import read_yaml

_NEEDS: dict[Input, Need] = {"list": Need.LIST, "target": Need.TARGETS}

Text = Annotated[str, Field(min_length=1)]


class Criterion(Record):
    """One criterion of a rubric file.

    `scale` is its lowest and its highest score; `anchors` say what a whole score means. Without
    `between` every score has an anchor; with it, scores without an anchor may be given as well.
    `inputs` are shown besides the conversation: the recommendation list, the target items.
    """

    name: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9_ ]*$")
    definition: Text
    scale: tuple[StrictInt, StrictInt]
    anchors: dict[StrictInt, Text] = Field(min_length=1)
    steps: tuple[Text, ...] = ()
    inputs: tuple[Input, ...] = ()
    group: str = ""
    between: bool = False

    @model_validator(mode="after")
    def _scale_without_a_hole(self) -> Self:
        low, high = self.scale
        if low >= high:
            raise ValueError(f"its scale must go up, got [{low}, {high}]")
        outside = sorted(score for score in self.anchors if not low <= score <= high)
        if outside:
            raise ValueError(f"the anchor {outside[0]} is outside its scale, {low} to {high}")
        if not self.between and len(self.anchors) < high - low + 1:
            missing = next(score for score in range(low, high + 1) if score not in self.anchors)
            raise ValueError(
                f"{missing} has no anchor: add one, or say `between: true` if scores between "
                "the anchors are allowed"
            )
        return self

    @property
    def metric(self) -> Metric:
        """The metric that it rates."""
        low, high = self.scale
        return Metric(
            id=metric_id(self.name),
            title=self.name,
            group=self.group,
            low=low,
            high=high,
            needs=(*(_NEEDS[each] for each in dict.fromkeys(self.inputs)), Need.MODEL),
        )

    @property
    def best_first(self) -> Self:
        """The criterion with its anchors in the order in which judges read them."""
        anchors = dict(sorted(self.anchors.items(), reverse=True))
        return self.model_copy(update={"anchors": anchors})


_FILE = TypeAdapter(list[Criterion])


def read_criteria(path: Path) -> tuple[Criterion, ...]:
    """The criteria of a rubric file, in its order: a list, or a mapping with the key `factors`.

    Raises ConfigError, in one line, if the file cannot be used.
    """
    content = _content(path)
    try:
        criteria = _FILE.validate_python(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_explained(error, content)}") from None
    if not criteria:
        raise ConfigError(f"{path}: has no criterion: expected a list of criteria")
    seen: set[str] = set()
    for criterion in criteria:
        if criterion.metric.id in seen:
            raise ConfigError(f"{path}: two criteria are called {criterion.name!r}: rename one")
        seen.add(criterion.metric.id)
    return tuple(criterion.best_first for criterion in criteria)


def _content(path: Path) -> object:
    content = read_yaml(path)
    if isinstance(content, dict) and set(content) == {"factors"}:
        content = content["factors"]
    if content is None:
        raise ConfigError(f"{path}: is empty: expected a list of criteria")
    if not isinstance(content, list):
        raise ConfigError(f"{path}: expected a list of criteria, got a {type(content).__name__}")
    return content


def _explained(error: ValidationError, content: object) -> str:
    """One line about the first error, with the number of further errors."""
    details = error.errors(include_url=False)
    first = details[0]
    number, *place = first["loc"]
    assert isinstance(content, list)
    assert isinstance(number, int)
    given = content[number]
    name = given.get("name") if isinstance(given, dict) else None
    which = repr(name) if isinstance(name, str) else f"criterion {number + 1}"
    where = f", `{'.'.join(str(step) for step in place[:2])}`" if place else ""
    more = "" if len(details) == 1 else f" (and {len(details) - 1} more)"
    return f"{which}{where}: {_what(first)}{more}"


def _what(detail: ErrorDetails) -> str:
    known = ", ".join(Criterion.model_fields)
    match detail["type"]:
        case "extra_forbidden":
            return f"unknown key (known: {known})"
        case "model_type" | "model_attributes_type":
            return f"expected a mapping with keys such as {known}"
        case "string_pattern_mismatch":
            return "expected letters, digits and spaces"
    return mistake(detail)
