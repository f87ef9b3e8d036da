"""Learns from an endpoint's answers what it refuses."""

from collections.abc import Iterator

from recjury.llm.adaptation import (
    FEATURES,
    UNCHANGED,
    Adaptation,
    Feature,
    SentMessage,
    features_of,
    next_step,
    refused_features,
)
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.records import JSON

_REFUSALS = frozenset({400, 404, 405, 415, 422, 500, 501})
_SERVER_ERROR = 500

_OF_MESSAGES: tuple[Feature, ...] = ("roles", "system")


class Learning:
    """What one model refuses, as far as it is known.

    A setting of the model is never changed: neither its `temperature` nor what `extra` sends; and
    with `refuses`, nothing beyond that is learned. `has_answers` tells whether the endpoint has
    answered a request; `server` describes a server that recjury started for the model. A gateway's
    knowledge can be handed to a later one.
    """

    def __init__(self, spec: EndpointSpec):
        """Begin with what the model's `refuses` says."""
        self.adaptation = UNCHANGED
        for feature in spec.refuses or ():
            self.adaptation = self.adaptation.without(feature)
        self._fixed = _fixed_features(spec)
        self.has_answers = False
        self.server: dict[str, JSON] = {}
        self._accepted: set[Feature] = set()
        self._shapes: set[tuple[str, ...]] = set()

    def as_json(self) -> dict[str, JSON]:
        """What is sent differently, and the server that recjury started, to store."""
        server = {"server": self.server} if self.server else {}
        return self.adaptation.as_json() | server

    def begin(self) -> "Trial":
        """The trial of one request."""
        return Trial(self)

    def learnable(self, features: tuple[Feature, ...]) -> tuple[Feature, ...]:
        """Those of `features` that may be changed."""
        return tuple(feature for feature in features if feature not in self._fixed)

    def knows(self, body: dict[str, object]) -> bool:
        """Whether requests were answered that had all features of `body`."""
        return self._accepted.issuperset(features_of(body))

    def has_accepted(self, feature: Feature) -> bool:
        """Whether a request with this feature was answered."""
        return feature in self._accepted

    def accepted(self, trial: "Trial", body: dict[str, object]) -> Adaptation | None:
        """Note that the trial's request was answered; what was learned by that, or None."""
        messages: list[SentMessage] = body.get("messages", [])  # type: ignore[assignment]
        shape = (*body, *(message["role"] for message in messages))
        if shape not in self._shapes:  # all others have the same features as one before
            self._shapes.add(shape)
            self._accepted.update(features_of(body))
        if trial.is_outdated or trial.learned == self.adaptation:
            return None
        self.adaptation = trial.learned
        return self.adaptation


class Trial:
    """One request, sent in other forms until the endpoint accepts one.

    What it finds is learned only once the request is answered.
    """

    def __init__(self, learning: Learning):
        """Begin with what is known."""
        self._learning = learning
        self.before = self.learned = learning.adaptation
        self._doubted: set[Feature] = set()
        self._without_limit = False
        self._untried: Iterator[Adaptation] | None = None

    @property
    def adaptation(self) -> Adaptation:
        """How the request is sent now."""
        return self.learned.without("max_tokens") if self._without_limit else self.learned

    @property
    def is_outdated(self) -> bool:
        """Whether another request has learned something since this one began."""
        return self._learning.adaptation is not self.before

    def adapt(self, answer: ErrorAnswer, body: dict[str, object]) -> bool:
        """Change the form as `answer` to `body` suggests; whether to send the request again.

        A server error, and a refusal of what was accepted before, may be a fault of the moment:
        then the request is first sent once more as it is.
        """
        if answer.status not in _REFUSALS:
            return False
        learnable = self._learning.learnable
        if answer.about_length:
            # The prompt and the longest reply together may be too long: without a limit, the
            # endpoint takes what is left. That holds for this request only.
            if self._without_limit or "max_tokens" not in learnable(features_of(body)):
                return False
            self._without_limit = True
            return True
        if answer.about_form:
            return self._try_without_a_parameter(answer, body)
        if answer.is_explained:
            return False
        for feature in learnable(refused_features(answer, body)):
            is_odd = answer.status >= _SERVER_ERROR or self._learning.has_accepted(feature)
            if is_odd and feature not in self._doubted:
                self._doubted.add(feature)
                return True
            after = next_step(self.learned, feature, answer, body)
            if after is not None:
                self.learned = after
                return True
        return False

    def _try_without_a_parameter(self, answer: ErrorAnswer, body: dict[str, object]) -> bool:
        """Change one of the parameters that no answered request had, in turn, and at last leave
        all of them out; whether anything is left to try."""
        if self._untried is None:
            self._untried = iter(self._forms_without_a_parameter(answer, body))
        after = next(self._untried, None)
        self.learned = self.before if after is None else after
        return after is not None

    def _forms_without_a_parameter(
        self, answer: ErrorAnswer, body: dict[str, object]
    ) -> list[Adaptation]:
        learning, found, plainest = self._learning, [], self.before
        for feature in reversed(learning.learnable(features_of(body))):
            if feature not in _OF_MESSAGES and not learning.has_accepted(feature):
                found.append(next_step(self.before, feature, answer, body))
                found.append(self.before.without(feature))
                plainest = plainest.without(feature)
        forms = dict.fromkeys([*found, plainest])
        return [form for form in forms if form is not None and form != self.before]


def _fixed_features(spec: EndpointSpec) -> frozenset[Feature]:
    if spec.refuses is not None:
        return frozenset(FEATURES)
    fixed = {feature for feature in FEATURES if feature in spec.extra}
    if "max_completion_tokens" in spec.extra:
        fixed.add("max_tokens")
    if "top_logprobs" in spec.extra:
        fixed.add("logprobs")
    if spec.temperature is not None:
        fixed.add("temperature")
    return frozenset(fixed)
