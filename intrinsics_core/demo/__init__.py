"""The demo: one story about a small island, told once per framework.

The passages and questions are our own fiction, under the licence of this project.
"""
