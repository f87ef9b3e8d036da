"""What must stay as it is while the house is rebuilt.

These tests go through what stays: the command line (`--json`, run in process), campaign files and
records. What they need of the inside (planning a campaign without playing it, the identity of one
call, the rows of a paper's table) is in `adapter.py`, which a rebuild may point elsewhere. What it
may not change is what the tests hold:

- `test_identities.py`: which settings make another conversation, evaluation or model call, and
  which do not (`identities.yaml`). It compares before and after, and holds no hash: hashes may
  change once.
- `test_prompts.py`: every prompt that is sent, as a digest, and one of each kind to read.
- `test_json.py`: what the commands print with `--json`, and what `export` writes.
- `test_killed.py`: evaluators are killed in each stage and continued.
- `test_published.py`: published figures, and those of scripted models.

Intended changes
----------------
A commit that changes what is held here says so in this list, with the reason:

(none)
"""
