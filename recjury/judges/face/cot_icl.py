"""LLM-CoT+ICL (FACE, section 4): reasons first, after two rated examples."""

from recjury.judges.face.whole import WholeRater


class CotIclRater(WholeRater):
    """Shows two examples and asks to think step by step."""

    kind = "llm-cot-icl"
    with_reasons = True
