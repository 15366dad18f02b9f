"""A question that leans on its conversation, made to stand alone."""
