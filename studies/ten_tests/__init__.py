"""The ten tests of Caliskan, Bryson & Narayanan (2017) in two embeddings and a sentence encoder."""
