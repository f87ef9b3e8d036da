"""Phrases that show what a user's turn asks for, and what a system's turn does.

All patterns search `MaskedText.plain` (lower case, single spaces). Each is an alternation of fixed
phrases with at most one short bounded gap, so that a search takes linear time.
"""

import re
from enum import StrEnum

from recjury.judges.measured.text import TITLE, MaskedText

_GAP = r"[^.!?]{0,40}"


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")(?!\w)")


class Ask(StrEnum):
    """What a user's turn asks the system for."""

    ABOUT_ITEM = "about an item"
    OTHER_RECOMMENDATION = "another recommendation"
    RECOMMENDATION = "a recommendation"
    NOTHING = "nothing in particular"


_ABOUT = _any_of(
    rf"(?:tell|give|provide|share)(?: me)?{_GAP} (?:more|details|information|overview|summary)",
    r"more (?:details|information|info) (?:about|on)",
    rf"what(?:'s| is| are){_GAP} (?:about|plot|story|storyline|tone|like|premise)",
    rf"(?:who|when){_GAP} (?:directed|wrote|stars|starred|in it|plays|released)",
    r"introduce",
    r"what (?:it's|it is|that's|that is|they're) (?:about|like)",
    r"what happens in (?:it|that)",
    r"(?:what should i expect|anything i should know|what else should i know)",
    r"(?:could|can|would) you describe",
    rf"what(?:'s| is) (?:so |the best thing |the )?(?:good|great|special|best|mood|point){_GAP}",
    r"what makes (?:it|that|this|you think of)",
    r"why (?:do you think of|would i like|should i (?:watch|read|try)) (?:it|that|this)",
    r"would you (?:watch|read|try|listen to) it",
    r"what (?:do|did|would) (?:people|you|they|critics) think of",
    r"how long has it",
    r"who else is",
    r"would you say it",
    r"why would you (?:pick|choose|recommend|suggest) (?:it|that|this)",
    r"compare it to",
    r"is there [^?.!]{1,40} in it",
    rf"what does {_GAP} have in common",
    rf"(?:hear|heard|asking|asked|talk|a word|much|anything) about {TITLE}",
    rf"(?:hold on, )?what about {TITLE}",
    r"(?:haven't|have not|didn't|never) (?:told|tell|said|say)(?: me)? (?:anything|much|a word)",
    rf"what is {TITLE} like",
)
# Only before a question mark: "she has it framed" asks nothing.
_WHETHER = _any_of(r"(?:is|are|does|do|has) (?:it|they|this|that|the (?:movie|film|book))")
_OTHER = _any_of(
    r"(?:something|anything|any|some) (?:else|other|different|new)",
    r"(?:any|some|have) other",
    rf"another {_GAP}(?:movie|film|one|recommendation|suggestion|option|book)",
    r"what other",
    r"what else",
    r"next (?:movie|film|one|recommendation)",
    rf"(?:something|anything|any) (?:more|less) \w+(?: {_GAP})?\?",
    r"show me another",
    r"got anything else",
    r"would be next on your list",
    r"what would you \w+ in my place",
    r"try another",
    r"something closer",
)
_REQUEST = _any_of(
    r"recommend\w*",
    r"suggest\w*",
    r"looking for",
    r"in the mood for",
    r"on the lookout for",
    rf"(?:want|like|love|need) to (?:see|watch|find)(?! (?:it|that|this|them|those|{TITLE}))",
    r"what (?:should|can|could) i (?:watch|see|read)",
    r"(?:i'm|i am)(?: really)? (?:into|interested in|a (?:big |huge )?fan of)",
    rf"i (?:really |also )?(?:like|love|enjoy|prefer|want|need)\b{_GAP} "
    r"(?:movies?|films?|books?|comed\w+|thrillers?|dramas?|action|horror|romance|genres?|stories)",
    r"do you have any",
    r"(?:i|i'd|i would|i'm) (?:really |still |just )?(?:want|after|need|like|love)"
    r" (?:to have )?(?:an?|some|something|anything|one) \w+",
    r"(?:give|show|find|tell) me (?:an?|some|something|anything|one)",
)
_GOODBYE = _any_of(
    r"(?:good)?bye",
    r"thank(?:s| you)(?: for (?:the|your|all)(?: your| the)? (?:help|suggest\w*|recommend\w*|time|"
    r"chat)| so| very|,? that's|!|\.|$)",
    r"i'll (?:take|go with|watch|try|pick) (?:that|it|this)",
    r"(?:have a|you) (?:good|great|nice) (?:day|night|evening|one|weekend)",
    r"that's (?:all|enough)",
)
_GOES_ON = _any_of(r"but", r"no,? thank(?:s| you)", r"not", r"another", r"other", r"more")


# "Thanks for the recommendation!" and "Great suggestion!" ask for none.
_THANKED = re.compile(
    r"\b(?:thank(?:s| you)|appreciate)[^.!?]{0,30}\b(?:recommend\w*|suggest\w*|help)|"
    r"\b(?:good|great|nice|excellent|helpful|awesome|perfect) (?:recommend|suggest)\w*\b(?!\?)"
)


def ask_of(user: MaskedText) -> Ask:
    """What the turn asks for.

    A question about an item has priority over a wish, because users who ask for details often
    repeat their wish.
    """
    text = _THANKED.sub(" ", user.plain)
    if _OTHER.search(text):
        return Ask.OTHER_RECOMMENDATION
    about, request = _asks_about(text), _REQUEST.search(text)
    if about is not None and (
        TITLE in text or '"' in text or not request or about < request.start()
    ):
        return Ask.ABOUT_ITEM
    return Ask.RECOMMENDATION if request else Ask.NOTHING


def _asks_about(text: str) -> int | None:
    """Where the first words stand that ask about an item."""
    about, whether = _ABOUT.search(text), _WHETHER.search(text)
    places = [about.start()] if about else []
    if whether and "?" in text[whether.end() :]:
        places.append(whether.start())
    return min(places, default=None)


def says_goodbye(user: MaskedText) -> bool:
    """Whether a user's turn ends the talk: thanks or a goodbye, without asking for anything."""
    text = user.plain
    if "?" in text or _GOES_ON.search(text) or ask_of(user) is not Ask.NOTHING:
        return False
    return _GOODBYE.search(text) is not None


_SUGGESTED = _any_of(
    r"your (?:first|best|top) (?:choice|suggestion|recommendation|match)",
    r"the (?:best match|one that fits|one you|one i liked|last one|recommended)",
    r"one of your suggestions",
)


def means_a_suggestion(user: MaskedText) -> bool:
    """Whether a user's turn speaks of a suggestion without its title."""
    return _SUGGESTED.search(user.plain) is not None


_APOLOGY = _any_of(
    r"sorry",
    r"apologi[sz]e",
    r"apologies",
    r"my mistake",
    r"my bad",
    r"you're right",
    r"you are right",
    r"got it",
    r"i understand",
    r"i see",
)


def gives_way(system: MaskedText) -> bool:
    """Whether a system's turn apologises or retracts what it said."""
    return _APOLOGY.search(system.plain) is not None


# "How about Heat?" suggests a film, "how about a comedy?" asks for a wish.
_SUGGESTS = rf"(?:the )?[\"“]?{TITLE}"
_PREFERENCE = _any_of(
    r"what (?:kind|type|sort|genre|genres|else|are you|do you|would you|movies?|films?)",
    r"which",
    rf"(?:how|what) about(?! {_SUGGESTS})",
    r"(?:do|would|did|have|are|can|could) you(?! (?:thought of|considered|thought about))",
    r"any (?:particular|other|"
    r"specific|favou?rite)",
    r"what's your",
    r"what is your",
    r"is there",
    r"shall i",
    r"should i",
    r"does that",
    r"interested",
    r"who is your",
    r"in the mood",
    r"what are some",
    r"who (?:are|do)",
)
_SMALL_TALK = _any_of(
    r"how are you(?: doing)?(?: today)?",
    r"how's it going",
    r"how is it going",
    r"what's up",
    r"can i help you",
    r"how (?:can|may) i help(?: you)?",
)
_OFFER = _any_of(
    r"let me know", r"feel free", r"if you(?:'re| are| would|'d)? (?:like|want|enjoy\w*|looking|"
    r"interested|prefer|need|love|in the mood)", r"i can (?:also )?(?:recommend|suggest|help|tell)",
    r"(?:might|may|could|will|would|'ll|you'd) also (?:like|enjoy|love|want|recommend|suggest|"
    r"try|check)", r"also (?:recommend|suggest|try|check out)", r"another (?:great |good )?"
    r"(?:option|choice|suggestion|recommendation|one|movie|film)", r"you (?:should|could|might "
    r"want to|can) (?:also |definitely )?(?:try|check|watch|see|consider)", r"i'd be happy",
)  # fmt: skip


def clarifies(system: MaskedText) -> str | None:
    """The question with which a system's turn asks the user about wishes, or None."""
    if "?" not in system.plain:
        return None
    for question in re.findall(r"[^.!?\n]{0,300}\?", system.plain):
        match = _PREFERENCE.search(_SMALL_TALK.sub(" ", question))
        if match:
            return str(match.group())
    return None


def offers(system: MaskedText) -> str | None:
    """The words with which a system's turn makes a further offer or suggestion, or None."""
    match = _OFFER.search(system.plain)
    return match.group() if match else None


_DESCRIBES = _any_of(
    r"about", r"plot", r"story\w*", r"follows", r"tells", r"stars?", r"starring", r"starred",
    r"director", r"directed", r"written", r"wrote", r"based on", r"set in", r"takes place",
    r"features?", r"characters?", r"released", r"came out", r"genres?", r"centers", r"explores",
    r"comed(?:y|ies)", r"thrill(?:er|ers|ing)", r"dramas?", r"romances?", r"romantic", r"horror",
    r"action", r"adventure", r"sci", r"science fiction", r"fantasy", r"animat(?:ed|ion)", r"crime",
    r"myster(?:y|ies)", r"documentary", r"musicals?", r"family", r"war", r"western", r"scary",
    r"funny", r"suspense\w*", r"has (?:a|an|lots|great|some|many)", r"performances?", r"sequel",
)  # fmt: skip


def describes(system: MaskedText) -> bool:
    """Whether a system's turn says something about a film: its content, people or genre."""
    return _DESCRIBES.search(system.plain) is not None


_REASONS = _any_of(
    r"because (?!i\b|of course)\w+", r"since (?:you|it|they)", r"as you (?:like|love|enjoy|asked|"
    r"said|mentioned|want)", r"if you(?:'re| are)? (?:like|enjoy\w*|love|looking for|into|in the "
    r"mood for|prefer) (?!it\b|that\b|this\b|them\b|those\b|the movie|the film)\S+", r"based on "
    r"your", r"given (?:your|that you)", r"(?:fits?|match\w*|suits?|perfect for|align\w*)", r"you "
    r"(?:said|mentioned|asked)", r"(?:it's|is|it is) about (?:a|an|the|two|three|how|people)\b",
    r"follows (?:a|an|the|two|three)\b", r"tells? the story", r"similar to", r"reminds?",
    r"combines?", r"known for", r"for its (?!own)\w+", r"in its favour", r"my reason",
)  # fmt: skip


def reason_in(system: MaskedText) -> str | None:
    """The words with which a system's turn gives a reason for a film, or None."""
    match = _REASONS.search(system.plain)
    return match.group() if match else None
