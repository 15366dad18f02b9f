"""The contract that every integration keeps, whatever its framework. Nothing of any framework is in here.

An integration writes an :class:`Adapter` and a test class::

    class TestContract(ContractTests):
        adapter = MyAdapter()
"""

from tests.contract.adapter import Adapter
from tests.contract.suite import ContractTests

__all__ = ["Adapter", "ContractTests"]
