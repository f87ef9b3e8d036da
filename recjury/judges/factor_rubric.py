"""The guidelines of the twelve factors, and the prompts made from them (CoRE, 4.1, appendix A)."""

from recjury.judges.guideline import FILLED_NAMES, LINKED_LIST, Input, JudgePrompts, lacks
from recjury.records import (
    FACTOR_SCALE,
    JSON,
    ConversationLog,
    Dimension,
    Domain,
    Factor,
    Message,
    Record,
)


class FactorGuide(Record):
    """How one factor is rated: see `judges.guideline.Guideline`."""

    dimension: Dimension
    definition: str
    anchors: dict[int, str]
    steps: tuple[str, ...]
    inputs: tuple[Input, ...]
    between: bool


class Rubric:
    """A prompt pack of factor guidelines; it renders the prompts of the judges."""

    def __init__(self, prompts: JudgePrompts | None = None, domain: Domain | None = None):
        """Read the guidelines of the pack of `prompts`, by default the package's own.

        `domain` is what the corpus's items are, if the guideline of Diversity does not name its
        dimensions.
        """
        self._prompts = prompts or JudgePrompts()
        guides: dict[str, object] = self._prompts.pack.manifest["factors"]
        self.guides = {factor: FactorGuide.model_validate(guides[factor]) for factor in Factor}
        if domain is not None:
            guide = self.guides[Factor.DIVERSITY]
            named = f"{guide.definition} {_dimensions(domain)}"
            self.guides[Factor.DIVERSITY] = guide.model_copy(update={"definition": named})

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack, as stored with ratings."""
        return self._prompts.identity

    @property
    def data(self) -> dict[str, JSON]:
        """What of the corpus the prompts show besides the log."""
        return self._prompts.data

    def lacks(self, factor: Factor, log: ConversationLog) -> str:
        """What `log` lacks to be rated on `factor`, in words; empty if it lacks nothing."""
        missing = lacks(self.guides[factor], log)
        if factor is not Factor.SEMANTIC_RELEVANCE or missing:
            return missing
        if log.items_linked:
            return LINKED_LIST
        return FILLED_NAMES if log.names_filled else ""

    def messages(self, factor: Factor, log: ConversationLog) -> tuple[Message, ...]:
        """The prompt for one rating, in parts, so that the store keeps repeated parts once."""
        return self._prompts.messages(str(factor), self.guides[factor], log, FACTOR_SCALE)


def _dimensions(domain: Domain) -> str:
    attributes = (each for each in domain.attributes if each.name in domain.dimensions)
    words = ["decades" if each.kind == "era" else each.words for each in attributes]
    return f"Here the items are {domain.items}: their dimensions are {', '.join(words)}."
