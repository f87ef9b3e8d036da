"""The exceptions of recjury. Everything else that is raised is a bug and keeps its traceback.

RecjuryError
├── UserError           the user can mend it: one line, no traceback, exit code 2
│   ├── Altered             a store holds what no run has written
│   └── Stop                the run ends in order; the same command goes on
├── UnitFailed          one unit of work failed: recorded with its reason, the campaign goes on
│   ├── CallFailed          a call to a model got no reply
│   │   └── Refused             and the same call would get none again
│   ├── SystemFailed        a system under test raised, hung, or said nothing usable
│   └── BatchPending        a batch will answer the call: the unit stays as it is until then
└── Unreadable          a reply lacks the form asked for; the text is a phrase of ours
"""


class RecjuryError(Exception):
    """The base of all exceptions of recjury."""


class UserError(RecjuryError):
    """What the user can mend: the message says what was expected, what came, and what to do."""


class Altered(UserError):
    """A store holds what no run has written: another program changed it."""


class Stop(UserError):
    """An endpoint or the budget ends the run. What is finished is kept."""


class UnitFailed(RecjuryError):
    """A conversation or an evaluation failed. The campaign goes on."""


class CallFailed(UnitFailed):
    """A call got no reply, after all that could be done about it."""


class Refused(CallFailed):
    """The endpoint refuses this call for what it says: its content, or its length."""


class SystemFailed(UnitFailed):
    """A system under test gave no usable answer."""


class BatchPending(UnitFailed):
    """A call that a batch will answer."""


class Unreadable(RecjuryError):
    """A reply cannot be used. The message goes into the next prompt, so it quotes no reply."""
