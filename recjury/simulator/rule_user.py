"""The simulated user without a model, named "rule": it follows an agenda and declares its acts."""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from recjury.knowledge import Catalogue
from recjury.records import JSON, ConversationLog, Rating, UserContext, Utterance, digest
from recjury.simulator.leak_guard import GUARD_VERSION, LeakChecker, LeakGuard, SpeechContext
from recjury.simulator.rule_persuasiveness import RULE_RUBRIC, rule_persuasiveness
from recjury.simulator.rule_turn import RuleTurn
from recjury.simulator.said_so_far import said_so_far
from recjury.simulator.templates import rules
from recjury.simulator.turn_writer import TurnWriter
from recjury.simulator.user_mind import UserMind
from recjury.simulator.wants import words

RULES_VERSION = "8"

_ATTEMPTS = 6
_WITH_TITLES = 3
_KEPT = 256  # histories


class RuleUser:
    """Takes up the wish of the history, and reveals one more attribute of a target in a turn.

    It answers questions about attributes, turns down what does not fit and says why, and asks about
    a target before it takes it. Its utterances depend only on the conversation so far, the scenario
    and `seed`, and each declares its acts.
    """

    name = "rule"

    def __init__(self, catalogue: Catalogue, *, seed: int = 0):
        """`catalogue` has the targets' attributes; `seed` varies the phrasing."""
        self._catalogue = catalogue
        self._seed = seed
        self._watch = LeakGuard(catalogue).watch
        self._past = lru_cache(_KEPT)(partial(said_so_far, catalogue=catalogue))

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Rules, sentences, words, seed and catalogue."""
        return {
            "user": self.name,
            "rules": RULES_VERSION,
            "sentences": digest([dict(rules()), words()]),
            "guard": GUARD_VERSION,
            "persuasiveness": RULE_RUBRIC,
            "seed": self._seed,
            "catalogue": self._catalogue.digest,
        }

    async def speak(self, context: UserContext) -> Utterance:
        """The next utterance. It names a target only if that is a hit that the system has named."""
        watch, speech = self._heard(context)
        past = self._past(context.scenario.history)
        mind = UserMind(self._catalogue, context, past, watch.gives_away, self._seed)
        text = ""
        for attempt in range(_ATTEMPTS):
            draw = mind.random("turn", str(len(context.interaction)), str(attempt))
            writer = TurnWriter(mind, draw, nameless=attempt >= _WITH_TITLES)
            said = RuleTurn(writer).compose()
            text = said.text
            if text and not watch.blocked(text, **speech):
                return said
        return Utterance(text=watch.cut(text, **speech))

    async def rewrite(
        self,
        context: UserContext,
        utterance: str,
        leaks: Sequence[str],  # noqa: ARG002
    ) -> Utterance:
        """`utterance` without the sentences that contain a leak."""
        watch, speech = self._heard(context)
        return Utterance(text=watch.cut(utterance, **speech))

    async def persuasiveness(self, log: ConversationLog) -> Rating:
        """Persuasiveness by attributes: see `rule_persuasiveness`."""
        return rule_persuasiveness(log, self._catalogue)

    def _heard(self, context: UserContext) -> tuple[LeakChecker, SpeechContext]:
        turns = context.interaction or context.scenario.history
        watch = self._watch(context.scenario.targets, context.scenario.history)
        named = (context.hit,) if context.hit and context.system_named_hit else ()
        answering = turns[-1].text if turns else ""
        return watch, {"spoken": (*context.speakable, *named), "answering": answering}
