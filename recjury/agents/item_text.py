"""Items as the texts that embedders compare with a conversation."""

from recjury.records import Item


def item_text(item: Item) -> str:
    """An item's attributes in one line, as iEvaLM's ChatGPT baseline embeds them.

    Title, genres, actors, directors and writers, each left out where nothing is known; no
    plot, year or language.
    """
    parts = [f"Title: {item.name}"]
    for label, values in (
        ("Genre", item.genres),
        ("Actor", item.actors),
        ("Director", item.directors),
        ("Writer", item.writers),
    ):
        if values:
            parts.append(f"{label}: {', '.join(values)}")
    return "; ".join(parts)
