"""A simulated user of one's own, by rule: it names a genre of the target, and no more.

simulator: {kind: "own_user:Terse", options: {polite: true}}
"""

from recjury.records import UserContext


class Terse:
    """Says one genre of the target in each turn, and takes the target when it was told of it."""

    def __init__(self, catalogue, *, seed, polite=False):
        self.settings = {"version": 1}
        self._catalogue, self._polite = catalogue, polite

    def speak(self, context: UserContext) -> str:
        if context.hit:
            return "That is the one. Thanks!"
        target = self._catalogue.item(context.scenario.targets[0].id)
        wishes = target.genres or ("something good",)
        wish = wishes[len(context.interaction) // 2 % len(wishes)]
        return f"{wish}, please." if self._polite else wish

    def rewrite(self, context: UserContext, utterance: str, leaks: tuple[str, ...]) -> str:
        return "Something else, please." if self._polite else "Something else."
