"""Trading strategies: code with versions, and what it would have done."""
