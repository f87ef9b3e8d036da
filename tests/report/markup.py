"""Reads a page as a browser would, and complains where a browser would have to guess."""

from html.parser import HTMLParser

_VOID = {"meta", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """A parsed page: its visible text, its elements, and what does not balance."""

    def __init__(self, source: str) -> None:
        """Parse `source`."""
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(source)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        if tag in {"td", "th"}:
            self.text.append(" ")
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """Close the element that is open."""
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()} closes something else")

    def handle_data(self, data: str) -> None:
        """Keep what is visible."""
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        """The visible text on one line, without soft hyphens."""
        return " ".join("".join(self.text).split()).replace("\xad", "")

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [value for key, value in self.attributes if key == name]
