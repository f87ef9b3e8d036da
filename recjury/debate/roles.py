"""The prompts of the four roles, and what they see (CoRE 4.2)."""

from collections.abc import Sequence
from typing import Literal, cast, get_args

from recjury.debate.rated_log import own_ratings
from recjury.debate.rules import RULES
from recjury.prompts import (
    ItemFacts,
    Lists,
    Pack,
    fence,
    items_block,
    list_block,
    load_pack,
    places_of,
    turns_block,
    wishes_block,
)
from recjury.records import (
    ConversationLog,
    Expert,
    Factor,
    Message,
    Rating,
    Record,
    Role,
    Statement,
)

PACK = "core-debate"
PACKS = (PACK, "core-paper-debate")


class RoleGuide(Record):
    """One role in the words of the pack: its name, its three concerns, its expertise.

    `sees` has what it is shown besides the conversation: the session-level recommendation list, the
    target items. A pack with `lists: all` shows the list to every role.
    """

    sees: tuple[Literal["list", "target"], ...]
    who: str
    concerns: dict[Factor, str]
    expertise: tuple[str, ...]


class DebatePrompts:
    """The prompt pack of the debate; it renders the prompt of a role in a round."""

    def __init__(
        self,
        pack: Pack | None = None,
        *,
        facts: ItemFacts | None = None,
        language: str = "",
        expert: Expert | None = None,
    ):
        """Read the roles of `pack`, by default recjury's own; it must have all four.

        `facts` and `language` are as in `judges.guideline.JudgePrompts`. `expert` is the Domain
        Expert of a corpus whose items are neither films nor books.
        """
        self._pack = pack or load_pack(PACK)
        self._facts = facts if self._pack.manifest.get("annotated") else None
        self._language = language
        self._words: int | None = self._pack.manifest.get("words")
        guides: dict[str, object] = self._pack.manifest["roles"]
        self.guides = {role: RoleGuide.model_validate(guides[role]) for role in Role}
        if expert is not None:
            words = {"who": expert.who, "expertise": expert.expertise}
            guide = self.guides[Role.DOMAIN_EXPERT]
            self.guides[Role.DOMAIN_EXPERT] = guide.model_copy(update=words)
        self._systems = {role: self._introduction(role) for role in Role}

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack, and the language, as stored with debates."""
        return self._pack.identity(self._language)

    @classmethod
    def installed(
        cls, protocol: str, facts: ItemFacts | None = None, expert: Expert | None = None
    ) -> "DebatePrompts":
        """The installed version of the prompts of which `protocol` is a version."""
        prompts, _, language = protocol.removesuffix(RULES).partition(" in ")
        name, lists = prompts.partition("/")[0], prompts.partition(" lists ")[2]
        pack = load_pack(name if name in PACKS else PACK)
        if lists in get_args(Lists):
            pack = pack.with_lists(cast("Lists", lists))
        return cls(pack, facts=facts, language=language, expert=expert)

    def system(self, role: Role) -> Message:
        """The role and its task: the same for every log and round."""
        return self._systems[role]

    def turn(
        self,
        role: Role,
        number: int,
        log: ConversationLog,
        ratings: Sequence[Rating],
        said: Sequence[Statement],
    ) -> Message:
        """The prompt of the role in round `number`; `said` has all completed rounds."""
        sees = self.guides[role].sees
        items = log.session_list() if "list" in sees or self._pack.lists == "all" else ()
        targets = log.scenario.targets if "target" in sees else ()
        return Message(
            "user",
            self._pack.render(
                "turn",
                history=turns_block("history", log.scenario.history),
                interaction=turns_block("interaction", log.interaction),
                items=list_block(log, self._facts) if items else None,
                facts=self._facts is not None,
                places=places_of(targets, items),
                language=self._language,
                words=self._words,
                targets=items_block("target", targets, self._facts) if targets else None,
                wishes=wishes_block(log.scenario.wishes) if log.scenario.wishes else None,
                report=self._report(role, ratings),
                discussion=self._discussion(said),
                round=number,
            ),
        )

    def _introduction(self, role: Role) -> Message:
        others = [str(other) for other in Role if other is not role]
        return Message(
            "system",
            self._pack.render(
                "role",
                name=str(role),
                others=f"the {', the '.join(others[:-1])} and the {others[-1]}",
                guide=self.guides[role],
                factors=role.factors,
            ),
        )

    def _report(self, role: Role, ratings: Sequence[Rating]) -> str:
        results = "\n".join(_result(rating) for rating in own_ratings(role, ratings))
        return "".join(self._pack.render("report", results=results))

    def _discussion(self, said: Sequence[Statement]) -> list[str]:
        rounds = sorted({statement.round for statement in said})
        return [
            "".join(
                self._pack.render(
                    "round",
                    number=number,
                    said="\n".join(_spoken(s, self._words) for s in said if s.round == number),
                )
            )
            for number in rounds
        ]


def _result(rating: Rating) -> str:
    if rating.score is None:
        mark, text = "none", rating.reason
    else:
        mark, text = f"{rating.score:g} of {rating.high:g}", rating.rationale
    return f'<factor name="{fence(rating.factor)}" score="{mark}">{fence(text)}</factor>'


def _spoken(statement: Statement, words: int | None) -> str:
    if statement.score is None:
        mark, text = "none", statement.reason
    else:
        mark, text = f"{statement.score:g}", _shortened(statement.text, words)
    return f'<statement by="{statement.role}" score="{mark}">{fence(text)}</statement>'


def _shortened(text: str, words: int | None) -> str:
    """The first `words` words of a text, and a sign that it went on; all of it if None."""
    if words is None or len(text.split()) <= words:
        return text
    return " ".join(text.split()[:words]) + " [...]"
