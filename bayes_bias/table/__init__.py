"""The association table: values, labels, replicates, weights for contrasts, and scopes of generalisation."""
