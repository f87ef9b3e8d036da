"""A simulated user of one's own; own_user.yaml lets it talk."""

from recjury.llm import Ask
from recjury.records import Turn
from recjury.simulator import SimulatedUser, Situation


class Curt(SimulatedUser):
    """Says one word a turn. Its fields are its keys in a campaign file."""

    word: str = "More."

    async def speak(self, situation: Situation, ask: Ask) -> Turn:
        return Turn(speaker="user", text="Thanks." if situation.found else self.word)
