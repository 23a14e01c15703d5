"""The association table: values, labels, replicates, the weights of its design, and the scopes it allows."""
