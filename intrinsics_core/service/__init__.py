"""One service for every stack: HTTP in the shapes that other clients know, and MCP, over the public API of the library.

Nothing here judges. A request becomes a call, the call is asked on a runtime, and its result becomes a response.
It takes the extra ``[serve]``; nothing else of the library imports it.
"""
