"""A chat engine that knows what it does not know.

>>> from llama_index.chat_engine.rag_intrinsics import GroundedChatEngine
>>> GroundedChatEngine.__name__
'GroundedChatEngine'
"""

from llama_index.chat_engine.rag_intrinsics.grounded import GroundedChatEngine

__all__ = ["GroundedChatEngine"]
