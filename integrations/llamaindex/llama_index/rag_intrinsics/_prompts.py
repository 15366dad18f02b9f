"""What LlamaIndex asks every part for: its prompts. Ours are the profile's, or those of the part inside."""

from __future__ import annotations

from llama_index.core.prompts.mixin import PromptDictType, PromptMixin, PromptMixinType


class NoPrompts:
    """Has no prompts of its own: they are the profile's, and are not edited one by one."""

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        """There are none."""


class InnerPrompts(NoPrompts, PromptMixin):
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
