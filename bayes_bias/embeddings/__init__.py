"""Word vectors from any source, read only as far as a word list needs them."""
