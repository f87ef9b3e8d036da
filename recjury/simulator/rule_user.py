"""The simulated user without a model, named "rule": it follows an agenda."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from recjury.knowledge import Catalogue
from recjury.records import JSON, ConversationLog, ItemRef, Rating, UserContext, Utterance, digest
from recjury.simulator.agenda import CatalogueValues
from recjury.simulator.grammar import phrases
from recjury.simulator.leak_guard import GUARD_VERSION, LeakChecker, LeakGuard
from recjury.simulator.rule_persuasiveness import RULE_RUBRIC, rule_persuasiveness
from recjury.simulator.rule_turn import RuleTurn
from recjury.simulator.user_state import UserState

RULES_VERSION = "4"

_ATTEMPTS = 6
_WITH_TITLES = 3
_WATCHES = 256


class RuleUser:
    """Opens with a vague wish, and reveals one more attribute of a target with every turn.

    It answers questions about genre, actors, directors and era. It rejects items that do not fit
    and says why. After a target is recommended, it asks for an introduction. Its utterances
    depend only on the conversation so far, the scenario and `seed`.
    """

    name = "rule"

    def __init__(self, catalogue: Catalogue, *, seed: int = 0):
        """`catalogue` has the targets' attributes; `seed` varies the phrasing."""
        self._catalogue = catalogue
        self._seed = seed
        self._values = CatalogueValues(catalogue)
        self._watch = lru_cache(_WATCHES)(LeakGuard(catalogue).watch)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Rules, phrases, seed and catalogue."""
        return {
            "user": self.name,
            "rules": RULES_VERSION,
            "phrases": digest(phrases()),
            "guard": GUARD_VERSION,
            "persuasiveness": RULE_RUBRIC,
            "seed": self._seed,
            "catalogue": self._catalogue.digest,
        }

    async def speak(self, context: UserContext) -> Utterance:
        """The next utterance. It names a target only if that is a hit that the system has named."""
        watch, spoken, answering = self._heard(context)
        text = ""
        for attempt in range(_ATTEMPTS):
            state = UserState(
                self._catalogue,
                self._values,
                context,
                lambda said: bool(watch.blocked(said)),
                seed=self._seed,
                attempt=attempt,
            )
            text = RuleTurn(state, plain=attempt >= _WITH_TITLES).compose()
            if text and not watch.blocked(text, spoken=spoken, answering=answering):
                return Utterance(text=text)
        return Utterance(text=watch.cut(text, spoken=spoken, answering=answering))

    async def rewrite(
        self,
        context: UserContext,
        utterance: str,
        leaks: Sequence[str],  # noqa: ARG002
    ) -> Utterance:
        """`utterance` without the sentences that contain a leak."""
        watch, spoken, answering = self._heard(context)
        return Utterance(text=watch.cut(utterance, spoken=spoken, answering=answering))

    async def persuasiveness(self, log: ConversationLog) -> Rating:
        """Persuasiveness by attributes: see `rule_persuasiveness`."""
        return rule_persuasiveness(log, self._catalogue)

    def _heard(self, context: UserContext) -> tuple[LeakChecker, Sequence[ItemRef], str]:
        turns = context.interaction or context.scenario.history
        watch = self._watch(context.scenario.targets, context.scenario.history)
        named = (context.hit,) if context.hit and context.system_named_hit else ()
        return watch, (*context.speakable, *named), turns[-1].text if turns else ""
