"""The code of migration 0004_apart, which splits trials into conversations and evaluations.

It is a copy of recjury's code at that time, so that later changes of recjury do not change the
migration.
"""
