"""Word salad: what no one writes, by patterns of common words.

Each pattern searches a sentence's words, with "x" for a title and "," where punctuation parts
words. Each has bounded gaps, so that a search takes linear time.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from recjury.judges.measured.fluency import FUNCTION_WORDS, shipped
from recjury.judges.measured.text import TITLE, Sentence, word_set

Error = tuple[int, str]

_ADJECTIVE = (
    r"(?:small|big|large|sad|funny|dark|quiet|warm|slow|long|strange|new|old|young|strong|tense|"
    r"beautiful|happy|good|great|wonderful|nice|angry|calm|gentle|serious|scary|wild|lovely|bright|"
    r"clever|cheerful|bad|interesting|famous|quick|loud|simple|terrible|dangerous|true|poor|lonely|"
    r"crazy|violent|silent|brave|serious|honest|clear|simple|newer|older|quieter|sadder|darker|funnier)"
)
_VERY = r"(?:very |so |really |quite |also |too |rather )?"
_DET = r"(?:a|an|the|his|her|their|its|my|your|some|one)"
_MAN = r"(?:man|boy|guy|father|husband|king|son|brother|grandfather)"
_WOMAN = r"(?:woman|girl|mother|wife|queen|daughter|sister|grandmother)"
_PLENTY = (
    r"(?:people|men|women|children|boys|girls|friends|brothers|sisters|families|couples|soldiers|"
    r"strangers|students|teenagers|kids)"
)
_WORK = r"(?:film|movie|story|comedy|drama|book|thriller|musical|western|documentary|novel|song)"
_END = r"(?= ?[,;]| and\b| but\b| or\b| that\b| who\b| which\b| too\b|$)"
_PATTERNS = {
    # "tense and tense", "a boy and a boy", "newer and it is newer"
    "says a word twice": rf"\b(?!(?:over|again|more|on|years|so|very|much|many|really|round|through"
    rf"|up|down|way|long|far|less|better|worse|one|two|other|him|her|it|them|that|this|me|you|us"
    rf"|time|[a-z]+er and (?!it)|{_WORK}|{_WORK}s|"
    rf"movies|crime|action|horror|romance|mystery|humou?r|stuff|things|people)\b)"
    rf"([a-z]{{3,20}}) ?,? and (?:it is |it's |it has |they are |{_DET} )?{_VERY}"
    rf"(?:{_ADJECTIVE} )?\1{_END}",
    # "about sport, about sport"
    "says a phrase twice": r"\b(about|of|in|for|from) ([a-z]{3,20}) ?,? \1 \2\b",
    # "The ending is warm, and the second is warm", "funny, and it is a very funny comedy"
    "says it is so twice": rf"\bis {_VERY}({_ADJECTIVE}) ?,? (?:and|but) (?:[a-z']+ ){{1,2}}is "
    rf"(?:an? )?{_VERY}\1\b(?! too| as well| again)",
    "ends as it began": rf"\b({_ADJECTIVE}) and (?:[a-z]+ ){{1,4}}is (?:very|so) \1\b",
    # "It is a wild ending is a strange film"
    "two verbs": r"\b(?:it|this|that|x) (?:is|has) (?:a|an|the) (?:same )?(?:[a-z-]+ ){1,2}"
    r"(?<!that )(?<!which )(?<!who )(?<!all )(?<!what )(?<!one )is (?:a|an|the|very|so)\b",
    # "which very short"
    "no verb after which": r"\bwhich (?:very|too|quite) (?!few|little|much|many|often|well|soon)"
    r"[a-z]+(?<!ly)(?<!ed)(?<!s)(?= ?,|$| and\b| but\b)",
    # "it is a small, but it is", "a warm and funny", "the same sad and it"
    "no noun": rf"\b(?:is|it's|was|be|has) an? {_VERY}{_ADJECTIVE}"
    rf"(?:(?: ,)? and {_VERY}{_ADJECTIVE})*"
    r"(?= ?, (?:but (?:it|is|the|a)|and|which|it)\b| (?:which|of|because|her|his|the)\b"
    r"| (?:and|or|but) (?:it|is|it's"
    r"|the|a|an|he|her|his|they|there)\b|$)",
    "no noun at the end": rf"\b(?:some|any|no) {_VERY}(?!good|bad|interesting){_ADJECTIVE}$",
    # "it is quiet film about", "about girl and"
    "no article": rf"\b(?:is|it's|was) {_VERY}(?:just as )?{_ADJECTIVE} {_WORK}\b|"
    r"\babout (?:young |old )?(?:girl|boy|couple|brother|sister)\b",
    # "you will about a quiet", "it also a little scary", "you should the same time"
    "no verb": r"\b(?:you|it|they|we|i|he|she) (?:will|would|should|could|might|must) "
    r"(?:about|from|with|an?|the|is|are)\b",
    # "there is about a family", "sisters who about a mother", "it has a little sad"
    "no verb before about": r"\bthere is about an?\b|\bwho (?:are )?about an?\b",
    "no noun after a little": rf"\bhas a (?:little|bit|lot) {_ADJECTIVE}(?= ?,|$| and\b)",
    # "You are a long and quiet film"
    "a person is no item": rf"\b(?:you|i) (?:are|am) an? (?:[a-z]+ ){{0,4}}{_WORK}"
    r"(?= ?,|$| (?:with|about|of|and|that|which)\b)",
    # "about a brave, and serious", "about a lonely as tense", "is about sports the road"
    "no noun after about": rf"\babout an? {_VERY}{_ADJECTIVE}(?= ?, and\b|$| as\b| and it\b)|"
    r"\babout [a-z]{3,}s the [a-z]+(?= ?,|$| and\b)",
    # "It is short, and they are long"
    "changes its subject": rf"^it is (?:[a-z]+ ?,? ?){{1,4}} and they are {_ADJECTIVE}\b",
    # "takes less than three hours long"
    "says how long twice": r"\btakes [a-z ]{3,30}\b(?:hours|minutes) long\b",
    # "about a family but it"
    "breaks off": r"\b(?:and|but) (?:it|is|the|a|it is|in|of|it has)$",
    "in the same time": r"\bin the same time\b(?! period| frame| zone| slot| line)",
    "no noun after there is": rf"\bthere (?:is|are|was) (?:not |very |so )*{_ADJECTIVE}$",
    # "pick X is a slow", "X is a good film and X are both funny"
    "two sentences in one": r"\b(?:pick|take|choose|suggest|recommend|try) x is (?:a|an|the|very)\b"
    r"|\bx is (?:[a-z]+ ){1,5}and x are\b",
    # "is about he has people"
    "about a sentence": r"\b(?:is|was|film|story|movie|comedy|drama|it's|and) about "
    r"(?:he|she|they) (?:is|are|was|has|have)\b",
    # "about people in a man"
    "people in a person": rf"\b{_PLENTY} in an? (?:young |old )?(?:{_MAN}|{_WOMAN})\b",
    # "a dark and dark crime film"
    "says it twice": rf"\b(?!(?:good|great|bad)\b)({_ADJECTIVE}) ?,? and {_VERY}\1\b",
    # "at the fifties", "it is not too.", "and so has a"
    "no such phrase": r"\bat the (?:thir|for|fif|six|seven|eigh|nine)ties\b"
    r"|\bis not too(?=$| and\b| but\b| for\b| ?,)|\band so has an?\b|^a little but\b"
    rf"|\ba lot (?![a-z]+er\b)(?:very|{_ADJECTIVE})\b|\bis (?:few|many) {_ADJECTIVE}\b"
    rf"|\bsomething {_ADJECTIVE} {_WORK}\b|\bhours long time\b",
    # "it has a great film"
    "has what it is": rf"\b(?:it|x) has an? {_VERY}(?:{_ADJECTIVE} )*"
    r"(?:film|movie|drama|thriller)\b",
    # "wants to the music", "who is a new life", "one day in one day"
    "no such thing": r"\bwants? to (?:the|an?|his|her)\b"
    rf"|\bwho (?:is|was|are) an? (?:{_ADJECTIVE} )?(?:life|city|house|town|war|time|road)\b"
    rf"|\b(one [a-z]+) in \1\b|\bto be {_ADJECTIVE} to be\b|\btakes not\b|\band more no\b"
    r"|\bis (?:older|newer|better|shorter|longer) one\b"
    r"|\btakes place in it\b|^then (?:and|so|or) x\b"
    rf"|^then x and {_ADJECTIVE}$"
    r"|\bhas a lot (?!of|more|less|to|in|going|better|for|on|at|that|like|about)[a-z]+(?= ?,|$)"
    r"|\bis by the (?:thir|for|fif|six|seven|eigh|nine)ties\b",
    # "a hard to be new"
    "no noun before to be": rf"\ban? {_VERY}{_ADJECTIVE} to be\b",
    # "about a boy and a family and a boy"
    "lists a thing twice": rf"\b(family|love|music|war|{_MAN}|{_WOMAN}) and (?:an?|the|his|her) "
    r"(?:[a-z]+ )?[a-z]+ and (?:an? |the )?\1\b",
    # "a boy and her mother", "a girl and his mother"
    "wrong pronoun": rf"\b(?:a|the) (?:{_ADJECTIVE} |little )?{_MAN} and her "
    r"(?:mother|father|family|life|brother|sister|friend|friends|son|daughter|wife)\b"
    rf"|\b(?:a|the) (?:{_ADJECTIVE} |little )?{_WOMAN} and his "
    r"(?:mother|father|family|brother|sister|friend|friends|son|daughter|wife|teacher)\b",
    # "with a music"
    "article before what is not counted": r"\ba (?:good |great |wonderful |sad |strong |lot of a )?"
    r"(?:music|information|advice|luck|weather|humou?r|furniture|traffic)"
    r"(?= ?,|$| (?:and|is|in|of|that|which|from|but|with|for)\b)",
}
_SLIPS = frozenset({"no article", "in the same time", "article before what is not counted"})
_COMPILED = tuple((what, re.compile(pattern)) for what, pattern in _PATTERNS.items())
_NUMBERS = frozenset({"two", "three", "four", "several"})
_BEFORE_NUMBER = frozenset({"about", "with", "of", "by", "between", "young", "are", "has", "have"})
_ADJECTIVES = word_set(
    "young old tense sad funny good great small strange poor happy lonely dark angry quiet"
)
_ONE_PERSON = word_set("girl boy friend brother sister man woman child family")
_NO_NOUN = word_set("without with and in is of about to but") | {""}
_GLUED = 2
_LONGEST_GLUED = 16
_REMEMBERED = 4096


def salad(sentence: Sentence, *, slips: bool = True) -> tuple[Error, ...]:
    """The first such place of a sentence, with the index of its first word, or nothing.

    Without `slips`, what a learner of English writes who means something is left out.
    """
    return _salad(sentence, slips=slips)


@lru_cache(_REMEMBERED)  # a judge of grammar, one of style and one of answers read each sentence
def _salad(sentence: Sentence, *, slips: bool) -> tuple[Error, ...]:
    return tuple(islice(_places(sentence, slips=slips), 1))


def _places(sentence: Sentence, *, slips: bool) -> Iterator[Error]:
    words = [
        ("x" if word == TITLE else word, sentence.breaks[at] and at > 0)
        for at, word in enumerate(sentence.words)
    ]
    said = " ".join(f", {word}" if breaks else word for word, breaks in words)
    for what, pattern in _COMPILED:
        found = pattern.search(said)
        if found is not None and (slips or what not in _SLIPS):
            start = sum(word != "," for word in said[: found.start()].split())
            yield start, f"{what}: {found.group().replace(' ,', ',').strip()!r}"
            return
    last = len(sentence.raw) - 1
    if last > 2 and sentence.raw[last] in {"a", "an", "the"}:
        yield last, f"ends with {sentence.raw[last]!r}"
    yield from _no_plural(sentence)
    yield from _glued(sentence)


def _no_plural(sentence: Sentence) -> Iterator[Error]:
    """ "about two young girl", "two tense without"."""
    for at, word in enumerate(sentence.words):
        if word not in _NUMBERS or sentence.before(at) not in _BEFORE_NUMBER:
            continue
        run = sentence.run(at, 5)[1:]
        end = next((i for i, each in enumerate(run) if each not in _ADJECTIVES), len(run))
        noun, after = (*run[end : end + 2], "", "")[:2]
        if noun in _ONE_PERSON and (end or after in _NO_NOUN):
            yield at, f"no plural after {sentence.phrase(at, at + end + 2)!r}"
            return
        if end and noun in _NO_NOUN:
            yield at, f"no noun after {sentence.phrase(at, at + end + 1)!r}"
            return


def _glued(sentence: Sentence) -> Iterator[Error]:
    """ "whoor": two very frequent words written as one."""
    for at, word in enumerate(sentence.words):
        if (
            not 4 <= len(word) <= _LONGEST_GLUED
            or not sentence.raw[at].islower()
            or word in FUNCTION_WORDS
        ):
            continue
        for cut in range(_GLUED, len(word) - _GLUED + 1):
            if word[:cut] in _GLUE_FIRST and word[cut:] in _GLUE_LAST and _unknown(word):
                yield at, f"run together {word!r}"
                return


_GLUE_FIRST = word_set(
    "who which that and with about the is are of from but because old silent dark sad tense funny"
)
_GLUE_LAST = word_set(
    "or of and is are the with who which that about from to it for comedy adventure film movie "
    "story drama"
)


def _unknown(word: str) -> bool:
    return not shipped().count("word", [word])
