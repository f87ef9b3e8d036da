"""What a conversation came to, computed from its log; and what its user thought of it."""
