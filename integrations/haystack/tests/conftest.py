from importlib.util import find_spec

import pytest

# Without Haystack there is nothing here to test; `.ci/run` installs it.
collect_ignore_glob = (
    [] if find_spec("haystack") and find_spec("haystack_integrations") else ["test_*.py", "programs/*"]
)

pytest.register_assert_rewrite(
    "tests.contract.suite", "tests.contract.openai", "tests.contract.chat_model", "integrations.haystack.tests.adapter"
)
