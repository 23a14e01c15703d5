"""What a fit says: the table of numbers, the verdict, the design study."""
