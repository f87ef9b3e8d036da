"""Write all pages."""

from docs.generator import write

write()
