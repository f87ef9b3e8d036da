"""What must stay as it is while the house is rebuilt.

These tests go through what stays: the command line (`--json`, run in process), the Python
interface, campaign files and records. What they need of the inside (planning a campaign without
playing it, the identity of one call, the calls in a store, the command of a paper's table) is in
`adapter.py`, which a rebuild may point elsewhere. They hold:

- `test_identities.py`: which settings make another conversation, evaluation or model call, and
  which do not (`identities.yaml`). It compares before and after, and holds no hash.
- `test_prompts.py`: every prompt that is sent (`prompts/`): a digest of each, and one of each kind
  to read.
- `test_json.py`: what commands print with `--json`, and what `export` writes (`json/`).
- `test_analyses.py`: the numbers of the papers' tables and of the other analyses.
- `test_python.py`: Python and the command line agree.
- `test_killed.py`: evaluators are killed in each stage and continued.

`campaigns/` are played by `played.py`, once in a test run, with the models of `player.py`.

What may change
---------------
- Hashes: once, and in every store that exists. Nothing here depends on them.
- The classes, functions and files behind all this, and the store's format.
- The command of an analysis, and the form in which it prints its rows: `adapter.figures` then reads
  the new form into the same words and numbers.

Anything else is an intended change, or a mistake. A commit with an intended change writes the files
anew (`FROZEN_WRITE=1 python -m pytest tests/frozen`) and adds a line here:

Intended changes
----------------
- A dry run counts the tokens of prompts that it plans, in place of averages; the calls are
  the same. The simulated user's Persuasiveness stands with the evaluators.
- A rating of G-Eval by samples keeps what the first sample says besides its score, as
  ratings by samples of other evaluators do.
- Analyses are `recjury analyse NAME`, whose JSON has tables: every number of the former commands
  is in them (`factors` is core.rq1 and core.rq4).
- An export has the table `evidence`.
- `run`, `judge` and `report` add `answer` and `caveats`; `compare` adds `caveats`, and `smallest_p`
  to each metric, and begins with the verdict. A difference of ties has no p-value, and those of
  ratings are tested exactly. A system that never lists (`silent`) has no Recall.
- The debate without a model is `rule-debate/4` (roles move by the evidence that the others cite):
  verdicts by rule, rounds and statements differ, and with them what is computed of them. The rating
  of a verdict has the mean before and after as its rationale; a replayed debate has its
  `evidence`, a line of a list of debates its `protocol`. The ratings of the factors are the same.
- Judges, debate and user without a model rest on the reader of utterances (measured-5,
  rule-debate/4, rule user 5), and the retrieval system is version 3: they say and rate otherwise.
- The debate without a model is `rule-debate/5`: trust is by the share of turns that a role cites,
  and one role alone gives no verdict (recordings without a catalogue). P-values are corrected over
  the verdict and over all other metrics apart. An export has the acts of turns and their counts.
- An answer code has eight characters and a key, and stands as CODE here. FACE's decomposer and the
  writer of negatives begin and end with it. Systems whose ratings were lost have `lost`,
  `worst_low` and `worst_high`.
- The debate without a model is `rule-debate/6` (the Common User begins halfway to what the user
  did): verdicts by rule differ. The measured judges (measured-6) explain the same scores in other
  words.
- The leak guard is version 3 (codes are decoded) and the rule user version 6 (other sentences): its
  conversations differ, and with them what is rated and computed of them.
- The rule user is version 7 (its reasons rest on what it asked for): its conversations differ, and
  with them what is rated and computed of them.
- Recoverability counts the same objections in the prompts of `core` as in the measured judge, so
  judges' and debaters' prompts differ. The prompts of `core-paper` have all of the paper's steps,
  and the list in every one.
- `core.rq1` has the pairs that the paper names; the means of `core.rq4` are by judge and data set,
  and its scores by role are the debaters', not means of factors.
- The leak guard is version 5 (strange words are compared with the target): settings name it; the
  conversations are the same.
- The rule user is version 8 (who finds a target in the last list leaves with thanks): what is rated
  and computed of its last turns differs. `core` has no `judges.learned`.
"""
