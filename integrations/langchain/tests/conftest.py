import pytest

pytest.register_assert_rewrite(
    "tests.contract.suite", "tests.contract.openai", "tests.contract.chat_model", "integrations.langchain.tests.adapter"
)
