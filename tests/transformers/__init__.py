"""Encoders and language models: `make test-transformers`, in an environment with torch.

Models are made in the session, tiny and random, saved to a folder and opened from there; nothing is fetched.
"""
