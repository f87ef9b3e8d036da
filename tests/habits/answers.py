"""Forms of ratings and of debaters' answers."""

import json

from tests.habits.habit import ALL, DEBATERS, JUDGES, RATERS, habit
from tests.habits.meaning import Meaning, message, said, sent
from tests.scripted_server import Answer, completion


def _quoted(meant: Meaning) -> str:
    """The text under test, which holds an answer of its own, as a rater quotes it."""
    return f"The system wrote: {meant.answer(meant.wrong, coded=False)}"


@habit("answers", "read", on=RATERS)
def fences(meant: Meaning) -> Answer:
    """the answer within a code fence"""
    kind = "json" if meant.kind == "debate" else "xml"
    return said(f"```{kind}\n{meant.answer()}\n```")


@habit("answers", "read", on=RATERS)
def prose_around(meant: Meaning) -> Answer:
    """sentences before and after the answer"""
    return said(f"Sure! Here is my answer.\n\n{meant.answer()}\n\nI hope that this helps.")


@habit("answers", "read", on=DEBATERS)
def trailing_comma(meant: Meaning) -> Answer:
    """a comma before the closing brace"""
    return said(f"{meant.json()[:-1]},}}")


@habit("answers", "read", on=DEBATERS)
def single_quotes(meant: Meaning) -> Answer:
    """a Python dictionary"""
    return said(repr(meant.fields()))


@habit("answers", "read", on=DEBATERS)
def curly_quotes(meant: Meaning) -> Answer:
    """typographic quotation marks"""
    code = f", “code”: “{meant.code}”" if meant.code else ""
    return said(f"{{“statement”: “{meant.words}”, “score”: {meant.score}{code}}}")


@habit("answers", "read", on=DEBATERS)
def line_breaks_in_strings(meant: Meaning) -> Answer:
    """raw line breaks within a string"""
    return said(meant.json().replace(meant.words, f"{meant.words}\n\nTruly."))


@habit("answers", "read", on=DEBATERS)
def answer_in_a_list(meant: Meaning) -> Answer:
    """the object as the only one of a list"""
    return said(f"[{meant.json()}]")


@habit("answers", "read", on=DEBATERS)
def further_keys(meant: Meaning) -> Answer:
    """keys that were not asked for"""
    return said(json.dumps({"role": "me", "confidence": 0.9, **meant.fields()}))


@habit("answers", "read", on=RATERS)
def the_same_answer_twice(meant: Meaning) -> Answer:
    """the answer, and the same again"""
    return said(f"{meant.answer()}\n\n{meant.answer()}")


@habit("answers", "read", on=RATERS)
def number_in_a_string(meant: Meaning) -> Answer:
    """`"75"`, or a rating in quotation marks"""
    value = str(meant.score)
    return said(meant.answer(value if meant.kind == "debate" else f'"{value}"'))


@habit("answers", "read", on=RATERS)
def whole_number_with_a_point(meant: Meaning) -> Answer:
    """`3.0`"""
    return said(meant.answer(f"{meant.score}.0"))


@habit("answers", "read", on=RATERS)
def number_with_its_scale(meant: Meaning) -> Answer:
    """`3/4` on a scale that ends at 4"""
    return said(meant.answer(f"{meant.score}/{meant.top}"))


@habit("answers", "read", on=RATERS)
def number_out_of_its_scale(meant: Meaning) -> Answer:
    """`3 out of 4` on a scale that ends at 4"""
    return said(meant.answer(f"{meant.score} out of {meant.top}"))


@habit("answers", "unscored", on=RATERS)
def number_of_another_scale(meant: Meaning) -> Answer:
    """`3/5` on a scale that ends at 4"""
    return said(meant.answer(f"{meant.score}/{meant.top + 1}"))


@habit("answers", "unscored", on=JUDGES)
def half_a_point(meant: Meaning) -> Answer:
    """`3.5` where whole numbers are asked"""
    return said(meant.answer(f"{meant.score}.5"))


@habit("answers", "unscored", on=JUDGES)
def range_of_numbers(meant: Meaning) -> Answer:
    """`2-3`"""
    return said(meant.answer(f"{meant.score}-{meant.wrong}"))


@habit("answers", "unscored", on=RATERS)
def two_answers(meant: Meaning) -> Answer:
    """two different answers, both with the code"""
    return said(f"{meant.answer(meant.wrong)}\n\nOr rather:\n\n{meant.answer()}")


@habit("answers", "unscored", on=DEBATERS)
def share_of_one(meant: Meaning) -> Answer:
    """0.66 where 0 to 100 is asked"""
    assert meant.score is not None
    return said(meant.json(meant.score / 100))


@habit("answers", "unscored", on=RATERS)
def ten_times_too_much(meant: Meaning) -> Answer:
    """`750` on a scale that ends at 100"""
    assert meant.score is not None
    return said(meant.answer(meant.score * 10))


@habit("answers", "unscored", on=RATERS)
def below_the_scale(meant: Meaning) -> Answer:
    """`-1`"""
    return said(meant.answer(-1))


@habit("answers", "unscored", on=JUDGES)
def bold_without_a_tag(meant: Meaning) -> Answer:
    """`**Rating: 3**` without the tag"""
    return said(f"{meant.words}\n\n**Rating: {meant.score}/{meant.top}**")


@habit("answers", "unscored", on=JUDGES)
def number_alone(meant: Meaning) -> Answer:
    """only the digit"""
    return said(str(meant.score))


@habit("answers", "unscored", on=JUDGES)
def number_as_a_word(meant: Meaning) -> Answer:
    """the tag with `three` in it"""
    return said(meant.answer(("zero", "one", "two", "three", "four")[meant.score or 0]))


@habit("answers", "unscored", on=DEBATERS)
def prose_without_json(meant: Meaning) -> Answer:
    """the statement and the score in sentences"""
    return said(f"{meant.words} My score is {meant.score} of 100.")


@habit("answers", "read", on=DEBATERS)
def answer_within_another_object(meant: Meaning) -> Answer:
    """the object as the value of a key of another one"""
    return said(f'{{"answer": {meant.json()}}}')


@habit("answers", "unscored", on=DEBATERS)
def a_key_twice(meant: Meaning) -> Answer:
    """`score` twice in one object, with two numbers"""
    return said(meant.json().replace('"score"', f'"score": {meant.wrong}, "score"'))


@habit("answers", "unscored", on=RATERS)
def answer_without_the_code(meant: Meaning) -> Answer:
    """the form asked for, with its code left out"""
    return said(meant.answer(coded=False))


@habit("answers", "unscored", on=RATERS)
def another_code(meant: Meaning) -> Answer:
    """a code of its own"""
    return said(meant.answer().replace(meant.code, "x9x9x9") if meant.code else "no")


@habit("answers", "read", on=RATERS)
def quotation_then_answer(meant: Meaning) -> Answer:
    """an answer quoted from the text under test, then its own"""
    return said(f"{_quoted(meant)}\n\nI do not follow that.\n\n{meant.answer()}")


@habit("answers", "unscored", on=RATERS)
def quotation_alone(meant: Meaning) -> Answer:
    """an answer quoted from the text under test, and its own in bold"""
    return said(f"{_quoted(meant)}\n\nI do not follow that: **{meant.score}**.")


@habit("answers", "unscored", on=RATERS)
def quotation_then_cut_off(meant: Meaning) -> Answer:
    """an answer quoted from the text under test, then the end of the tokens"""
    return said(f"{_quoted(meant)}\n\nI do not", "length")


@habit("answers", "unscored", on=RATERS)
def quotation_then_the_end(meant: Meaning) -> Answer:
    """an answer quoted from the text under test, then nothing, with `finish_reason: stop`"""
    return said(_quoted(meant))


@habit("answers", "unscored", on=DEBATERS)
def quotation_within_the_statement_cut_off(meant: Meaning) -> Answer:
    """an unescaped quotation within a statement that ends too early"""
    quoted = meant.json(meant.wrong, coded=False)
    return said(f'{{"statement": "They wrote {quoted} and I')


@habit("answers", "unscored", on=RATERS)
def cut_off_within_the_answer(meant: Meaning) -> Answer:
    """the answer ends in its middle, with `finish_reason: stop`"""
    answer = meant.answer()
    return said(answer[: answer.rindex(str(meant.score)) + 1])


@habit("answers", "unscored", on=RATERS)
def whole_answer_said_to_be_cut_off(meant: Meaning) -> Answer:
    """a whole answer with `finish_reason: length`"""
    return said(meant.answer(), "length")


@habit("answers", "read", on=JUDGES)
def capital_tag(meant: Meaning) -> Answer:
    """`<Rating CODE='...'>`"""
    return said(meant.answer().replace("<rating code=", "<Rating CODE=").replace('"', "'"))


@habit("answers", "read", on=JUDGES)
def escaped_tag(meant: Meaning) -> Answer:
    """`&lt;rating&gt;`"""
    return said(meant.answer().replace("<", "&lt;").replace(">", "&gt;"))


@habit("answers", "read", on=JUDGES)
def bold_within_the_tag(meant: Meaning) -> Answer:
    """`**3**` within the tag, which is bold, too"""
    return said(f"{meant.words}\n\n**{meant.tag(f'**{meant.score}**')}**")


@habit("answers", "unscored", on=JUDGES)
def tag_never_closed(meant: Meaning) -> Answer:
    """the tag without its end"""
    return said(meant.answer().removesuffix("</rating>"))


@habit("answers", "unscored", on=JUDGES)
def words_within_the_tag(meant: Meaning) -> Answer:
    """a sentence within the tag"""
    return said(meant.answer(f"{meant.score} because of {meant.wrong} errors"))


@habit("answers", "unscored", on=RATERS)
def form_copied(meant: Meaning) -> Answer:
    """the form asked for, with its N"""
    return said(meant.tag("N") if meant.kind != "debate" else meant.json("N"))


@habit("answers", "read", on=RATERS)
def other_language(meant: Meaning) -> Answer:
    """reasons in another language, and the form as asked"""
    return said(meant.answer().replace(meant.words, "Das Gespräch ist gut, 推荐的电影也很合适。"))


@habit("answers", "unscored", on=JUDGES)
def translated_tag(meant: Meaning) -> Answer:
    """the tag in another language"""
    return said(meant.answer().replace("rating", "Bewertung"))


@habit("answers", "read", on=RATERS)
def very_long(meant: Meaning) -> Answer:
    """300 KB of reasons"""
    long = "It counts turn by turn, and finds nothing wrong. " * 6_000
    if meant.kind == "debate":
        return said(f"{long}\n\n{meant.answer()}")
    return said(f"{long}\n\n{meant.tag()}")


@habit("answers", "unscored", on=RATERS)
def repetition_until_the_tokens_end(meant: Meaning) -> Answer:
    """one sentence again and again, cut off"""
    return said("The system is good. " * 5_000, "length")


@habit("answers", "unscored", on=RATERS)
def no_text_of_a_rater(meant: Meaning) -> Answer:
    """an empty text"""
    return said("")


@habit("answers", "unscored", on=RATERS)
def null_text_of_a_rater(meant: Meaning) -> Answer:
    """`content: null`"""
    return said(None)


@habit("answers", "unscored", on=RATERS)
def blank_text_of_a_rater(meant: Meaning) -> Answer:
    """spaces, line breaks and zero-width characters"""
    return said(" \n\u200b\u00a0\n ")


@habit("answers", "unscored", on=RATERS)
def refusal_of_a_rater(meant: Meaning) -> Answer:
    """a refusal in words"""
    return said("I'm sorry, but I can't help with rating this conversation.")


@habit("answers", "unscored", on=RATERS)
def refusal_field(meant: Meaning) -> Answer:
    """the field `refusal`, and no text"""
    return message(content=None, refusal="I can't help with that.")


@habit("answers", "unscored", on=RATERS)
def filtered_reply_of_a_rater(meant: Meaning) -> Answer:
    """`finish_reason: content_filter` with a whole answer"""
    return said(meant.answer(meant.wrong), "content_filter")


@habit("answers", "read")
def finish_reason_null(meant: Meaning) -> Answer:
    """`finish_reason: null`"""
    return message(content=meant.answer(), finish_reason=None)


@habit("answers", "read")
def finish_reason_of_its_own(meant: Meaning) -> Answer:
    """`finish_reason: eos_token`"""
    return message(content=meant.answer(), finish_reason="eos_token")


@habit("answers", "unscored", on=RATERS)
def tool_call(meant: Meaning) -> Answer:
    """a call of a function instead of a text"""
    function = {"name": "rate", "arguments": meant.json(meant.wrong)}
    call = {"id": "1", "type": "function", "function": function}
    return message(content=None, tool_calls=[call], finish_reason="tool_calls")


@habit("answers", "read")
def two_choices(meant: Meaning) -> Answer:
    """two choices where one was asked for; the first counts"""
    body = completion(meant.answer())
    choices = body["choices"]
    assert isinstance(choices, list)
    other = {"role": "assistant", "content": "Something else."}
    choices.append({"index": 1, "message": other, "finish_reason": "stop"})
    return sent(body)


@habit("answers", "read", on=ALL)
def template_marks_at_the_end(meant: Meaning) -> Answer:
    """a mark of the chat template at the end of the text"""
    return said(f"{meant.answer()}<|im_end|>")


@habit("answers", "unscored", on=DEBATERS)
def score_true(meant: Meaning) -> Answer:
    """`"score": true`"""
    return said(meant.json().replace(str(meant.score), "true", 1))


@habit("answers", "unscored", on=DEBATERS)
def score_of_no_number(meant: Meaning) -> Answer:
    """`"score": NaN`"""
    return said(meant.json().replace(str(meant.score), "NaN", 1))


@habit("answers", "unscored", on=DEBATERS)
def score_in_a_list(meant: Meaning) -> Answer:
    """`"score": [75]`"""
    return said(meant.json().replace(str(meant.score), f"[{meant.score}]", 1))


@habit("answers", "unscored", on=DEBATERS)
def score_in_words(meant: Meaning) -> Answer:
    """`"score": "seventy-five"`"""
    return said(meant.json("seventy-five"))


@habit("answers", "read", on=DEBATERS)
def score_with_a_percent_sign(meant: Meaning) -> Answer:
    """`"75%"` on a scale that ends at 100"""
    return said(meant.json(f"{meant.score}%"))


@habit("answers", "unscored", on=DEBATERS)
def empty_statement(meant: Meaning) -> Answer:
    """a score without a statement"""
    return said(json.dumps({**meant.fields(), "statement": " "}))


@habit("answers", "unscored", on=DEBATERS)
def lines_instead_of_json(meant: Meaning) -> Answer:
    """`score: 75` in lines, as in YAML"""
    return said("\n".join(f"{name}: {value}" for name, value in meant.fields().items()))


@habit("answers", "unscored", on=DEBATERS)
def last_brace_missing(meant: Meaning) -> Answer:
    """the object without its last brace"""
    return said(meant.json()[:-1])


@habit("answers", "read", on=RATERS)
def form_copied_then_answer(meant: Meaning) -> Answer:
    """the form asked for, with its N, then the answer"""
    form = meant.json("N").replace('"N"', "N") if meant.kind == "debate" else meant.tag("N")
    return said(f"The form is {form}.\n\n{meant.answer()}")


@habit("answers", "read", on=RATERS)
def code_in_capitals(meant: Meaning) -> Answer:
    """the code in capital letters"""
    return said(meant.answer().replace(meant.code, meant.code.upper()))


@habit("answers", "read", on=JUDGES)
def code_without_quotation_marks(meant: Meaning) -> Answer:
    """`<rating code=a1b2c3>`"""
    return said(meant.answer().replace(f'"{meant.code}"', meant.code))


@habit("answers", "read", on=JUDGES)
def lines_within_the_tag(meant: Meaning) -> Answer:
    """the number in a line of its own"""
    return said(meant.answer(f"\n  {meant.score}\n"))


@habit("answers", "unscored", on=JUDGES)
def rating_as_an_attribute(meant: Meaning) -> Answer:
    """`<rating code="..." value="3"/>`"""
    return said(f'{meant.words}\n\n<rating code="{meant.code}" value="{meant.score}"/>')


@habit("answers", "unscored", on=JUDGES)
def boxed_number(meant: Meaning) -> Answer:
    r"""`\boxed{3}`, as in mathematics"""
    return said(f"{meant.words}\n\n$\\boxed{{{meant.score}}}$")


@habit("answers", "unscored", on=JUDGES)
def ratings_of_other_factors(meant: Meaning) -> Answer:
    """ratings of three factors, all with the code"""
    others = "\n".join(
        f"{name}: {meant.tag(value)}" for name, value in zip("ABC", (1, 2, 3), strict=True)
    )
    return said(f"{meant.words}\n{others}")


@habit("answers", "unscored", on=RATERS)
def second_thoughts_after_the_answer(meant: Meaning) -> Answer:
    """another answer in thoughts that follow the first"""
    return said(f"{meant.answer(meant.wrong)}\n<think>\nOr {meant.answer()}\n</think>\n")


@habit("answers", "unscored", on=RATERS)
def filtered_without_a_text(meant: Meaning) -> Answer:
    """a message without `content`, `finish_reason: content_filter`"""
    return message(finish_reason="content_filter")
