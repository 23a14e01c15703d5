"""Ten tests of which people's effects are published: do biases of vectors go with them?"""
