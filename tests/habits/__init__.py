"""A server with the habits of real models and endpoints, each a small function with a name.

The server knows what every reply means (`meaning`); a habit spoils its form, or what carries it.
What recjury makes of it is held against the same campaign with a server that has no habit.
"""
