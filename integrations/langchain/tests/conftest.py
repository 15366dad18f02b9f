"""What these tests share for failed asserts is registered in the conftest.py at the root."""
