"""People: users before anything is shown."""
