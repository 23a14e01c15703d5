"""Models that read sentences: vectors, log probabilities and scores of them. torch is imported when a model is opened."""
