"""Many lists in many embeddings, and the engine that computes such jobs once."""
