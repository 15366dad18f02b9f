"""What the vectors and logits of the small models say: fitted heads and what they are fitted on."""
