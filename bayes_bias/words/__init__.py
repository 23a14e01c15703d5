"""Word lists, rules for their words, and sentences that contain the words."""
