"""The twelve factors of CoRE (table 1 of the paper) and the four roles that weigh them (4.2)."""

from enum import StrEnum


class Dimension(StrEnum):
    """The part of a conversation that a factor rates (CoRE, section 4.1)."""

    DIALOGUE_ACTIONS = "Dialogue Actions"
    LANGUAGE_EXPRESSION = "Language Expression"
    RECOMMENDED_ITEMS = "Recommended Items"
    RESPONSE_CONTENT = "Response Content"


class Factor(StrEnum):
    """One of the twelve factors, each rated 0 to 4. "Groundness" is the paper's spelling."""

    COHERENCE = "Coherence"
    RECOVERABILITY = "Recoverability"
    PROACTIVENESS = "Proactiveness"
    GRAMMATICAL_CORRECTNESS = "Grammatical Correctness"
    NATURALNESS = "Naturalness"
    APPROPRIATENESS = "Appropriateness"
    EFFECTIVENESS = "Effectiveness"
    NOVELTY = "Novelty"
    DIVERSITY = "Diversity"
    SEMANTIC_RELEVANCE = "Semantic Relevance"
    EXPLAINABILITY = "Explainability"
    GROUNDNESS = "Groundness"

    @property
    def dimension(self) -> Dimension:
        """The dimension to which this factor belongs."""
        return list(Dimension)[list(Factor).index(self) // 3]


FACTOR_SCALE = (0, 4)
PERSUASIVENESS = "Persuasiveness"
PERSUASIVENESS_SCALE = (0, 2)
OVERALL_SCALE = (0, 100)


class Role(StrEnum):
    """The role of a debater, in the fixed order of the transcript."""

    COMMON_USER = "Common User"
    DOMAIN_EXPERT = "Domain Expert"
    LINGUIST = "Linguist"
    HCI_EXPERT = "HCI Expert"

    @property
    def factors(self) -> tuple[Factor, Factor, Factor]:
        """The three factors of which this role is an expert."""
        return _CONCERNS[self]


_CONCERNS: dict[Role, tuple[Factor, Factor, Factor]] = {
    Role.COMMON_USER: (Factor.EFFECTIVENESS, Factor.RECOVERABILITY, Factor.COHERENCE),
    Role.DOMAIN_EXPERT: (Factor.NOVELTY, Factor.DIVERSITY, Factor.GROUNDNESS),
    Role.LINGUIST: (Factor.NATURALNESS, Factor.GRAMMATICAL_CORRECTNESS, Factor.APPROPRIATENESS),
    Role.HCI_EXPERT: (Factor.EXPLAINABILITY, Factor.PROACTIVENESS, Factor.SEMANTIC_RELEVANCE),
}
