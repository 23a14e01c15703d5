"""True-positive-rate gaps of a classifier: what they are, how sure one can be, and what word bias has to do with them."""
