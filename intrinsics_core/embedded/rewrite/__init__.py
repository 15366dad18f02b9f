"""The last question of a conversation, made to stand alone, and keywords of the conversation for a retriever."""
