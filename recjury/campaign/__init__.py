"""One evaluation run: its configuration, plan, cast, pipeline and progress."""
