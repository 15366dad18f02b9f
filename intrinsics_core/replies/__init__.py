"""Reading a model's reply: JSON, labels and their probabilities, sentence ids and quotes to exact offsets."""
