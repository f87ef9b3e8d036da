"""Who runs the trials of a campaign."""
