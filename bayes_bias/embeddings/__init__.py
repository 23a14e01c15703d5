"""Read word vectors from any source, and keep only the vectors that a word list needs."""
