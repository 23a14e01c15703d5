"""Gates: does a bias stay within the allowed size, and is it worse than before?"""
