"""People: users before anything is shown of them."""
