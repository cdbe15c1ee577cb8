"""Running programs nobody vouches for: engines, limits, and what comes back."""
