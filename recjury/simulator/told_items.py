"""The items that the user has been told of, and the one that it is content with."""

from functools import cached_property

from recjury.knowledge import Catalogue
from recjury.records import ItemRef, Person, Scenario, Turn, distinct


class ToldItems:
    """Follows the system's turns: which items they named or showed, and the round of the hit.

    The user has been told of the items that a text names and, if it sees lists, of those in the
    lists. A user who knows the targets is content with a target; one with wishes is content with
    an item that has all of them.
    """

    def __init__(
        self,
        scenario: Scenario,
        person: Person,
        catalogue: Catalogue,
        list_length: int,
        shows_list: bool,
        *,
        listed_only: bool = False,
    ):
        """`list_length` items of a list count; the user sees them only with `shows_list`.

        With `listed_only`, the user is content with no item that only a text named.
        """
        self._scenario, self._person, self.catalogue = scenario, person, catalogue
        self._length, self._shows_list = list_length, shows_list
        self._listed_only = listed_only
        self._rounds = 0
        self.targets: tuple[ItemRef, ...] = ()
        """The targets that the user has been told of, by the scenario's names."""
        self.hit_round: int | None = None
        self.content_with: ItemRef | None = None
        self.content_since: int | None = None

    def hear(self, turn: Turn) -> None:
        """Take a turn of the system."""
        self._rounds += 1
        listed = turn.items[: self._length]
        named = tuple(
            self.catalogue.item(mention.id).ref for mention in self.catalogue.link(turn.text)
        )
        told = distinct((*named, *(listed if self._shows_list else ())))
        new = {t for t in self._scenario.targets if any(t.same_item(each) for each in told)}
        self.targets = tuple(t for t in self._scenario.targets if t in new or t in self.targets)
        if self.hit_round is None and self._target_in(listed) is not None:
            self.hit_round = self._rounds
        if self.content_with is None:
            self.content_with = self._wanted(listed if self._listed_only else told, listed)
            self.content_since = None if self.content_with is None else self._rounds

    def _wanted(self, told: tuple[ItemRef, ...], listed: tuple[ItemRef, ...]) -> ItemRef | None:
        """The first item of a turn that the user is content with.

        A target that the history has named is recommended only by a list: a text may look back.
        """
        if self._person.knows == "wishes":
            return next((item for item in told if self._meets_wishes(item)), None)
        old = self._in_history
        new = tuple(i for i in told if i.id not in old or any(i.same_item(e) for e in listed))
        return self._target_in(new)

    def _target_in(self, items: tuple[ItemRef, ...]) -> ItemRef | None:
        # The target with the scenario's name: the system's list may use another name.
        targets = self._scenario.targets
        return next((t for item in items for t in targets if item.same_item(t)), None)

    def _meets_wishes(self, item: ItemRef) -> bool:
        wishes = self._person.wishes
        index = self.catalogue.attributes
        known = item.id is not None and item.id not in self._in_history
        return bool(wishes) and known and index.has_all(str(item.id), wishes)

    @cached_property
    def _in_history(self) -> frozenset[str]:
        return frozenset(
            mention.id
            for turn in self._scenario.history
            for mention in self.catalogue.link(turn.text)
        )
