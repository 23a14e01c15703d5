"""Language models: from sentences to vectors, and to the same table that words have."""
