"""The prompts of what stands around another part: that part's own."""

from __future__ import annotations

from llama_index.core.prompts.mixin import PromptDictType, PromptMixin, PromptMixinType


class InnerPrompts(PromptMixin):
    """Reads and changes the prompts of ``_inner`` under the names that they have there.

    Not as a module of its own (``inner:...``): LlamaIndex changes prompts one module deep and no deeper.
    """

    _inner: PromptMixin

    def get_prompts(self) -> PromptDictType:
        return self._inner.get_prompts()

    def update_prompts(self, prompts_dict: PromptDictType) -> None:
        """Change prompts.

        Raises:
            ValueError: a name is that of a module which there is not.
        """
        self._inner.update_prompts(prompts_dict)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        """None is its own."""
