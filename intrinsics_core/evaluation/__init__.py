"""How good scores are, and what makes probabilities of them."""
