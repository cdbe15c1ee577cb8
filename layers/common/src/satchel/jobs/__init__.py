"""Jobs: work that takes longer than a request may, kept by id until it is done."""
