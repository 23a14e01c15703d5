"""True-positive-rate gaps of a classifier: how large, how sure one can be, and whether word bias goes with them."""
