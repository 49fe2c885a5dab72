"""Risk of whole tables: who is alone in one, and how many points single a person out."""
