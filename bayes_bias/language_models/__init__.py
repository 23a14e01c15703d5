"""Models that read sentences: vectors, probabilities, scores. torch is imported when a model is opened."""
