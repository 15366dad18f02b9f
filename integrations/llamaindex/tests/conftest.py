from importlib.util import find_spec

import pytest

# Without LlamaIndex there is nothing here to test; `.ci/run` installs it.
collect_ignore_glob = [] if find_spec("llama_index") and find_spec("llama_index.core") else ["test_*.py"]

pytest.register_assert_rewrite(
    "tests.contract.suite",
    "tests.contract.openai",
    "tests.contract.chat_model",
    "integrations.llamaindex.tests.adapter",
)
