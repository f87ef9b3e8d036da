"""A debate without a model: roles begin with the mean of their counts and move halfway."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from recjury.debate import Role, abstention, hold, roles_of
from recjury.debate.agents import Debater
from recjury.llm.prompts import pack
from recjury.records import Debate, Rating, Statement

SPEAKER = "counted"
_POINTS = 25  # of a verdict's 100 for each of a factor's 4


class HalfwayDebater(Debater):
    """Begins with the mean of its factors, and moves halfway to the mean of all in each round."""

    def __init__(self, role: str, own: Sequence[Rating]):
        """`own` are the ratings of the role's factors; one of them at least has a score."""
        super().__init__(role)
        self._scores = {rating.metric: rating.score for rating in own if rating.score is not None}

    async def statement(self, number: int, heard: Sequence[Statement]) -> Statement:
        """Whole scores, so that roles which come close agree."""
        before = {said.role: said for said in heard if said.round == number - 1}
        score, text = self._moved(before) if self.role in before else self._first()
        return Statement(role=self.role, round=number, speaker=SPEAKER, text=text, score=score)

    def _first(self) -> tuple[int, str]:
        counts = (f"{name.replace('_', ' ')} {score:g}" for name, score in self._scores.items())
        score = round(_POINTS * fmean(self._scores.values()))
        return score, f"My counts from 0 to 4: {', '.join(counts)}."

    def _moved(self, before: Mapping[str, Statement]) -> tuple[int, str]:
        mine = before[self.role].score or 0.0
        mean = fmean(said.score for said in before.values() if said.score is not None)
        score = round((mine + mean) / 2)
        return score, f"I go from {mine:g} halfway to the mean of all, {mean:.1f}."


async def counted_debate(
    ratings: Sequence[Rating], opening: Sequence[Statement] = (), *, max_rounds: int
) -> Debate:
    """The debate over counts. A role without a counted factor abstains."""
    roles: Mapping[str, Role] = roles_of(pack("debate/core"))

    async def state(role: str, number: int, said: Sequence[Statement]) -> Statement:
        own = roles[role].own(ratings)
        if all(rating.score is None for rating in own):
            return abstention(role, number, SPEAKER)
        return await HalfwayDebater(role, own).state(said)

    return await hold(roles, state, opening, max_rounds=max_rounds)
