import pytest

pytest.importorskip("haystack", reason="haystack is not installed")
pytest.register_assert_rewrite("tests.contract.suite", "integrations.haystack.tests.adapter")
