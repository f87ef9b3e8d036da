"""Who runs the units of a campaign."""
