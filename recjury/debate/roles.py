"""The four roles and their prompts (CoRE, section 4.2, table 4, appendix D)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recjury.llm.prompts import (
    Facts,
    Pack,
    fence,
    items_block,
    list_block,
    numbers_of,
    turns_block,
    wishes_block,
)
from recjury.mistakes import Mistake, made
from recjury.records import ConversationLog, Message, Rating, Record, Statement, Status

_SILENT = "gave no statement in this round"
_NO_SCORE = "the judge gave no score"


class Role(Record):
    """A role in the words of a pack: what it sees besides the talk, its concerns, its expertise.

    `concerns` has a question for each of its factors, by the factor's title.
    """

    sees: tuple[Literal["list", "target"], ...]
    who: str
    concerns: dict[str, str]
    expertise: tuple[str, ...]

    def own(self, ratings: Sequence[Rating]) -> list[Rating]:
        """The ratings of the role's factors, in the order of its concerns."""
        by_metric = {rating.metric: rating for rating in ratings if rating.turn is None}
        names = (title.lower().replace(" ", "_") for title in self.concerns)
        return [by_metric[name] for name in names if name in by_metric]


def roles_of(pack: Pack) -> dict[str, Role]:
    """The roles of a pack, in the order of a transcript. Raises UserError for a mistake in it."""
    roles = pack.manifest.get("roles")
    if not isinstance(roles, Mapping):
        raise pack.error((), "`roles` is wanted: a mapping of names to roles")
    return {name: _role(pack, name, role) for name, role in roles.items()}


def _role(pack: Pack, name: str, role: Any) -> Role:
    if not isinstance(role, Mapping):
        raise pack.error(("roles", name), "a role is wanted: sees, who, concerns, expertise")
    try:
        return made(Role, role)
    except Mistake as mistake:
        raise pack.error(("roles", name, *mistake.keys), mistake.message) from None


class RolePrompts:
    """The prompts of a debate over one log and its ratings, one for each factor."""

    def __init__(
        self,
        pack: Pack,
        log: ConversationLog,
        ratings: Sequence[Rating],
        *,
        facts: Facts | None = None,
        expert: Mapping[str, Any] | None = None,
        lists: Literal["all", "named"] | None = None,
        language: str = "",
    ):
        """`facts` is what lists say of items, for packs that show it.

        `expert` has `who` and `expertise` of the items' own domain, for the role that a pack calls
        its `domain_expert`. `lists: all` shows the list to every role; `language` is the one to
        write in, by default that of the conversation.
        """
        self._pack, self._log, self._ratings = pack, log, ratings
        self._facts = facts if pack.manifest.get("annotated") else None
        self._lists = lists or pack.manifest.get("lists", "named")
        self._language, self._words = language, pack.manifest.get("words")
        self.roles = roles_of(pack)
        name = pack.manifest.get("domain_expert", "")
        if expert and name in self.roles:
            self.roles[name] = self.roles[name].model_copy(update=expert)

    def own(self, name: str) -> list[Rating]:
        """The ratings of a role's factors."""
        return self.roles[name].own(self._ratings)

    def prompt(self, name: str, number: int, said: Sequence[Statement]) -> list[Message]:
        """What a role is asked in a round, after all that was said in the rounds before."""
        return [
            Message("system", self._introduction(name)),
            Message("user", self._turn(name, number, said)),
        ]

    def _introduction(self, name: str) -> tuple[str, ...]:
        *others, last = (f"the {other}" for other in self.roles if other != name)
        return self._pack.render(
            "role",
            name=name,
            others=f"{', '.join(others)} and {last}",
            guide=self.roles[name],
            factors=tuple(self.roles[name].concerns),
        )

    def _turn(self, name: str, number: int, said: Sequence[Statement]) -> tuple[str, ...]:
        role, scenario = self.roles[name], self._log.scenario
        sees_list = "list" in role.sees or self._lists == "all"
        items = self._log.session_list if sees_list else ()
        targets = scenario.targets if "target" in role.sees else ()
        return self._pack.render(
            "turn",
            history=turns_block("history", scenario.history),
            interaction=turns_block("interaction", self._log.interaction),
            items=list_block(items, self._facts, linked=self._log.linked) if items else None,
            facts=self._facts is not None,
            targets=items_block("target", targets, self._facts) if targets else None,
            places=numbers_of(targets, items),
            wishes=wishes_block(scenario.wishes) if scenario.wishes else None,
            report=self._report(name),
            discussion=self._discussion(said),
            round=number,
            language=self._language,
            words=self._words,
        )

    def _report(self, name: str) -> str:
        results = "\n".join(map(_result, self.own(name)))
        return "".join(self._pack.render("report", results=results))

    def _discussion(self, said: Sequence[Statement]) -> list[str]:
        rounds = []
        for number in sorted({each.round for each in said}):
            lines = "\n".join(self._line(each) for each in said if each.round == number)
            rounds.append("".join(self._pack.render("round", number=number, said=lines)))
        return rounds

    def _line(self, said: Statement) -> str:
        score, text = "none", _SILENT
        if said.score is not None:
            score, text = f"{said.score:g}", _shortened(said.text, self._words)
        return f'<statement by="{said.role}" score="{score}">{fence(text)}</statement>'


def _result(rating: Rating) -> str:
    score, text = "none", rating.reason
    if rating.score is not None:
        score, text = f"{rating.score:g} of 4", rating.rationale
    elif rating.status is not Status.NOT_APPLICABLE:
        text = _NO_SCORE  # an endpoint's words are none of the debate's business
    name = rating.metric.replace("_", " ").title()
    return f'<factor name="{name}" score="{score}">{fence(text)}</factor>'


def _shortened(text: str, words: int | None) -> str:
    """The first `words` words of a text, and a sign that it went on."""
    if words is None or len(text.split()) <= words:
        return text
    return " ".join(text.split()[:words]) + " [...]"
