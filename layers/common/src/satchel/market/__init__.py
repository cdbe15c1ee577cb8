"""Market data: candles with their source and licence."""
