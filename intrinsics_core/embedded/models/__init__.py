"""The two small models that ship, on onnxruntime."""
