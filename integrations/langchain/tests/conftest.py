import pytest

pytest.register_assert_rewrite("tests.contract.suite", "integrations.langchain.tests.adapter")
