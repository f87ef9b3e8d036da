"""What migration 0004 works with. It is as it was then, whatever the rest of recjury becomes."""
