"""What the three frameworks' adapters decide, once and without a framework's types."""
