"""Models in this process: transformers with PEFT, vLLM, and what only they use."""
