"""The contract of all integrations, for LlamaIndex."""

from integrations.llamaindex.tests.adapter import LlamaIndexAdapter
from tests.contract import ContractTests


class TestContract(ContractTests):
    adapter = LlamaIndexAdapter()
