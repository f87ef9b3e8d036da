"""A model whose calls are answered in batches, hours later and for less (OpenAI's Batch API)."""
