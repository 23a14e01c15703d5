"""Tables from texts, whose intervals include the variation over texts."""
