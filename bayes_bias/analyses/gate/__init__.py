"""Gates: does a bias stay within what is allowed, and is it worse than before?"""
