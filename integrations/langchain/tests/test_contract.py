"""The contract of all integrations, for LangChain."""

from integrations.langchain.tests.adapter import LangChainAdapter
from tests.contract import ContractTests


class TestContract(ContractTests):
    adapter = LangChainAdapter()
