"""How much of its budget a campaign has spent, and what it has left to do."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.store import Campaign, CampaignCounts, Spent


class BudgetUse(NamedTuple):
    """The budget of a campaign's latest run, and what all its runs have spent, in `unit`.

    `unit` is USD or tokens.
    """

    limit: float
    spent: float
    unit: str

    @property
    def text(self) -> str:
        """Both, in a few words."""
        return f"{self._shown(self.spent)} of the budget of {self._shown(self.limit)} is spent"

    def _shown(self, amount: float) -> str:
        return f"{amount:,.0f} tokens" if self.unit == "tokens" else f"{amount:,.4g} USD"


def budget_use(campaign: Campaign, spent: Spent) -> BudgetUse | None:
    """The budget of a campaign and its use; None if its latest run had no budget."""
    config = campaign.setup.config
    budget = config.get("budget") if isinstance(config, Mapping) else None
    if not isinstance(budget, Mapping):
        return None
    tokens, dollars = budget.get("tokens"), budget.get("dollars")
    if isinstance(tokens, int):
        return BudgetUse(tokens, spent.amount(in_tokens=True), "tokens")
    if isinstance(dollars, int | float):
        return BudgetUse(dollars, spent.amount(in_tokens=False), "USD")
    return None


def left_text(counts: CampaignCounts, budget: BudgetUse | None) -> str:
    """What is neither done nor failed, and the use of the budget; empty if nothing is left."""
    left = [_left(counts.conversations.waiting, "conversation", "")]
    left += [
        _left(each.waiting, "evaluation", f" by {label}")
        for label, each in counts.evaluations.items()
    ]
    found = ", ".join(filter(None, left))
    if not found or budget is None:
        return found and f"left to do: {found}"
    return f"left to do: {found}; {budget.text}"


def _left(count: int, what: str, whose: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}{whose}" if count else ""
