"""Word lists, the rules they must satisfy, and the sentences in which their words stand."""
