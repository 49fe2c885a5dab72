"""Read and write files: people, two tables, histories, matrices and rows on disk."""
