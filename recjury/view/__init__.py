"""Pages over the store: live, and as files."""
