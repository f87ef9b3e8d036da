"""The person's own words for what it wants, where they can be said again as they are.

Only what parses as a wish is quoted: a noun phrase behind a word of wishing, asking or looking
("something about boxing"), what a person says that it works on, or a whole clause that begins
with "I want" or the like. A run of words that is none of these is never quoted.
"""

import re

from recjury.knowledge import Catalogue
from recjury.simulator.grammar import phrases, with_article

_YEAR = re.compile(r"\s*\((?:19|20)\d\d\)")
_THING = (
    r"(?:an? |some |any |something|anything|more |good |great |other |books? |movies? |films? |"
    r"novels? )(?:[^.!?;:,\n]|(?<=\b[A-Z])\.){3,90}"
)
_ASK = re.compile(
    r"\b(?:look(?:ing)? for|in the mood for|i['’]?m after|am after|"
    r"wants?(?: to (?:see|watch|read|find))?|recommend(?: me| us)?|suggest(?: me| us)?|"
    r"(?:['’]d|would) (?:really )?(?:like|love)|must (?:see|watch|read)|seek(?:ing)?|"
    r"know (?:of )?|like to (?:see|watch|read)|"
    r"find (?:me )?|need|show me|do you have|"
    r"have you got|enjoy|prefer|i (?:really )?(?:like|love)|(?:i['’]?m|am|really|been) into|"
    r"tell me|give me|(?:are|is) there|"
    rf"introduce \w+ \w+ to)\s+(?P<ask>{_THING})",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:^|[.!?,] ?)(?P<ask>(?:something|anything|"
    r"an? (?:[\w'’-]+ ){0,4}(?:film|movie|book|novel|comedy|thriller|drama|one|song|story)|"
    r"more (?:[\w'’-]+ ){0,3}(?:films|movies|books|novels))\b(?:[^.!?;:,\n]|(?<=\b[A-Z])\.){6,80})",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"(?:^|[.!?,] )(?P<ask>(?:more|less) [a-z]+)\s*\?", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:research(?:ing)?|study(?:ing)?|working on|curious about|interested in|obsessed with|"
    r"read(?:ing)? up on|theme is|topic is|subject is|"
    r"(?<!know )(?:anything|something|films|movies|books) "
    r"(?:on|about))\s+(?P<ask>(?!it\b|that\b|this\b|them\b|those\b|any|some|movie|film|book|"
    r"watch|see|read|hear|what\b|how\b|wh(?:o|y|ere|en|ether)\b|if\b)"
    r"[a-z][\w'’-]*(?: (?!for\b|with\b|at\b|in\b|so\b|but\b|and\b)"
    r"[a-z][\w'’-]*){0,3})",
    re.IGNORECASE,
)
_OCCASION = re.compile(
    r"\b(?:film|movie|book|novel|tip|one) (?P<ask>for an? (?!change|bit|while|start)"
    r"(?:[^.!?;:,\n]){4,60})",
    re.IGNORECASE,
)
_HAS = re.compile(
    r"\b(?:what|which|any) (?:film|movie|book|novel)s? "
    r"(?P<ask>(?:has|have) an? [^.!?;:,\n]{4,60}"
    r"(?:, (?!i\b|do\b|can\b)[a-z]+(?: [a-z]+){1,3}(?=\?))?)",
    re.IGNORECASE,
)
# "What other Marvel movies should I see?", "I really enjoy stoner comedies".
_KINDS = (
    r"(?P<what>(?!(?:of|all|the|both|those|these|this|that|type|kind|sort|you|your|my|to|two|other|same|"
    r"good|great|most|many|lots?)\b)[\w'’-]+(?: (?!of\b|the\b|to\b)[\w'’-]+)?)"
)
_WHICH = re.compile(
    r"\b(?:what|which|any) (?:(?:other|more|good|great|nice) ){0,2}"
    + _KINDS
    + r" (?P<noun>movie|film|book|novel)s? "
    r"(?:should|would|could|can|do (?!you (?:like|enjoy|prefer))|are|is|to|have)\b",
    re.IGNORECASE,
)
_FOND = re.compile(
    r"\b(?:i|we) (?:(?:really|also|do|just|always) ){0,2}(?:like|love|enjoy|prefer|want) "
    r"(?:(?:good|great) )?" + _KINDS + r" (?P<noun>[a-z]+s)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:^|[.!?,;] |\bbut |\band )(?P<clause>(?:i|we)(?: (?:really|also|just|still|only|mostly))? "
    r"(?:(?:would|['’]?d) (?:really )?(?:like|love)(?! (?:it|that))|['’]d (?:like|love)|want|need|"
    r"prefer|like|love|enjoy|feel like|am in the mood for|hate)\b[^.!?\n]{4,90})",
    re.IGNORECASE,
)
_ASK_ENDS = re.compile(
    r"\s(?:but (?:i|it|he|she|they|we|not|no|you|do|can)|"
    r"do you|have you|can you|could you|would you|please|and i|(?<!that )(?<!which )i|if|so|"
    r"thanks?|tonight|today|really|or (?:something|anything|what|do|is)|though|lately|much|too)"
    r"\b.*$|"
    r"\s(?:that|which|but|and|with|for)$",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"^(?:(?:really|very|good|great|nice|other|more|similar|popular|best) )*"
    r"(?:books?|movies?|films?|novels?|songs?|restaurants?|ones?)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"^(?P<what>(?!an?\b|something\b)[\w'’-]+(?: [\w'’-]+){0,2}) "
    r"(?P<noun>film|movie|book|novel)s\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(r"^(?:some|any|anything|a few|a couple of|more)\b\s*", re.IGNORECASE)
_NOT_AN_ASK = re.compile(
    r"\b(?:it|that one|them|those|these|information|info|idea|ideas|suggestions?|recommendations?|"
    r"preferences?|questions?|lot|much|him|her|his|help|mind|plans?|you|your|opinion|thing about|"
    r"same|else|time|everything|all (?:kinds|types|sorts)|my favou?rites?|that genre|this genre)\b",
    re.IGNORECASE,
)
_ADJECTIVE = (
    r"(?:[a-z]+(?:ful|ive|ous|ic|al|able|ing|less|ish|ant|ent|er|est|ed)|light|old|new|funny|"
    r"scary|sad|happy|dark|short|pretty|warm|calm|smart|clever|obscure|modern|similar|tense|good|"
    r"great|fun|more|less|very|really|emotional)"
)
_NO_PHRASE = re.compile(
    rf"something (?!(?:{_ADJECTIVE} )?(?:that|which|with|for|from|about|like|by|in|on|to|similar|"
    rf"starring|directed|written|set|based|without|as|but|and|than)\b|{_ADJECTIVE}\b)",
    re.IGNORECASE,
)
_VAGUE_CLAUSE = re.compile(
    r"\b(?:it|that|this|them|those|him|her|one|ones|you|your|both|either|movies?|films?|books?)$|"
    r"\b(?:seen|saw|heard|watch|check|see|try|trailer|recommendations?|suggestions?|that one|"
    r"to know|the first|the second|the new|you)\b|\?$",
    re.IGNORECASE,
)
_MOST_ASK_WORDS = 12
_MOST_CLAUSE_WORDS = 14


def own_words(sentence: str, nouns: frozenset[str] = frozenset({"film", "movie", "book"})) -> str:
    """The person's own words for what it wants ("a romantic movie"); "" if there are none.

    `nouns` are words for an item: a wish for anything else ("a forest") is for something with it.
    """
    match = _ASK.search(sentence) or _BARE.search(sentence)
    if match is not None:
        ask = _ask(match["ask"])
        if ask:
            return _of_an_item(ask, nouns)
    for pattern, said in (
        (_COMPARED, "something {}"),
        (_HAS, "something that {}"),
        (_OCCASION, "something {}"),
        (_SUBJECT, "something about {}"),
    ):
        match = pattern.search(sentence)
        if match is not None and not _NOT_AN_ASK.search(match["ask"].replace(" in it", "")):
            ask = _ASK_ENDS.sub("", match["ask"]).strip(" '\"-")
            ask = re.sub(r"^have\b", "has", re.sub("^(?:More|Less)", _lower, ask))
            if ask and len(ask.split()) <= _MOST_ASK_WORDS:
                return said.format(ask)
    return _of_a_kind(sentence)


def _of_a_kind(sentence: str) -> str:
    """One of the kind of item that is asked for or liked in the plural; "" if genres say it all."""
    match = _WHICH.search(sentence) or _FOND.search(sentence)
    if match is None or _NOT_AN_ASK.search(match["what"]):
        return ""
    what, noun = match["what"], match["noun"].lower()
    one = {kind.many: kind.one for kind in phrases().alone.values()}
    nouns = {"movie", "film", "book", "novel"}
    noun = one.get(noun, noun if noun in nouns else noun.removesuffix("s"))
    genres = {*phrases().bare_request, *phrases().genres.values(), *phrases().heard}
    known = what.lower() in genres or set(what.lower().split()) <= genres
    if (known and not what[0].isupper()) or noun not in {*nouns, *one.values()}:
        return ""
    return f"{with_article(what)} {noun}"


def own_clause(sentence: str) -> str:
    """A clause that says what the person likes or wants, to be quoted whole; "" without one."""
    match = _CLAUSE.search(sentence)
    if match is None:
        return ""
    clause = re.sub(r"[,;:]?\s*(?:please|thanks?|thank you)\b.*$", "", match["clause"])
    clause = _YEAR.sub("", clause).strip(" ,'\"-")
    if _VAGUE_CLAUSE.search(clause) or len(clause.split()) > _MOST_CLAUSE_WORDS:
        return ""
    return re.sub(r"^i\b", "I", clause, flags=re.IGNORECASE)


def _ask(found: str) -> str:
    ask = _YEAR.sub("", _ASK_ENDS.sub("", _ASK_ENDS.sub("", found))).strip(" '\"-")
    ask = _QUANTITY.sub(lambda each: "something " if each[0].lower()[:4] == "anyt" else "", ask)
    ask = _PLURAL.sub("something", ask)
    ask = _SEVERAL.sub(_one_of_them, ask)
    ask = re.sub(r"^(something )(?:that|which) (?:are|were) ", r"\1", ask)
    ask = re.sub(r"^(something )(?:that|which) have ", r"\1that has ", ask)
    words = ask.split()
    content = [word for word in words if word.lower().strip("'\"") not in phrases().bare_request]
    if not content or len(words) > _MOST_ASK_WORDS or _NOT_AN_ASK.search(ask) or "(" in ask:
        return ""
    if words[0].lower() not in ("a", "an", "something") or _NO_PHRASE.match(ask):
        return ""
    return ask[0].lower() + ask[1:]


def _lower(match: re.Match[str]) -> str:
    return match[0].lower()


def _one_of_them(match: re.Match[str]) -> str:
    return f"{with_article(match['what'])} {match['noun']}"


def _of_an_item(ask: str, nouns: frozenset[str]) -> str:
    """The wish itself if it is for an item, or else for something with it."""
    words = set(re.findall(r"[\w'’-]+", ask.lower()))
    alone = {kind.one for kind in phrases().alone.values()}
    plain = {word.removesuffix("s") for word in words}
    if ask.startswith("something ") or plain & nouns or any(f" {one}" in ask for one in alone):
        return ask
    return f"something with {ask}"


def without_titles(text: str, catalogue: Catalogue) -> str:
    """The text with a comma and blanks in place of the titles that it names."""
    for mention in catalogue.link(text):
        blank = ",".ljust(mention.end - mention.start)
        text = text[: mention.start] + blank + text[mention.end :]
    return text
