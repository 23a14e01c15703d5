"""Read word vectors from any source, and only as far as a word list needs them."""
