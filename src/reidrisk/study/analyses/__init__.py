"""What a study measures, one analysis a file."""
