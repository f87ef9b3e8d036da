"""Golden vectors of the reference implementation, and what is compared with them."""
