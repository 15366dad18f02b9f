"""The contract of all integrations, for Haystack."""

from integrations.haystack.tests.adapter import HaystackAdapter
from tests.contract import ContractTests


class TestContract(ContractTests):
    adapter = HaystackAdapter()
