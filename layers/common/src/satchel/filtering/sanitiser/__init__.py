"""Finding credentials and personal data in whatever a tool answers, and taking them out."""
