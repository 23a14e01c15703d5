"""From an embedding or a language model, and a word list, to a table of associations."""
