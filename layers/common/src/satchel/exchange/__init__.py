"""Real exchanges, spoken to through ccxt."""
