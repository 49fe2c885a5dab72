"""Ways of answering, one a file; `reidrisk.engines.plan` alone decides between them."""
