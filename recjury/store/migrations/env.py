"""Alembic's entry: runs the named migrations on the connection that `migrate` hands over."""

from alembic import context
from sqlmodel import SQLModel

import recjury.store  # noqa: F401 (fills the metadata)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
context.run_migrations()
