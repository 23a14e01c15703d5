"""What is asked of truths and answers: one question per file, each a tidy table with intervals clustered by truth."""
