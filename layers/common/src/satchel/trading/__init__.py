"""Trading on paper: orders, fills, positions, and the guard in front of them."""
