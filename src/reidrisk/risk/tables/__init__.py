"""Risk of whole tables: singling out and unicity."""
