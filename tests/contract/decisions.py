"""What chains decide about an answer, as cases that every integration proves: `intrinsics_core.chains` decides once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from intrinsics_core.chains.transcript import MadeCall

MILL = "Ada Brink built the tide mill in 1911."
FOG = "Fog is common from March to May."
INVENTED = "She painted it gold for forty sailors."
REPORT = "I have sent the email to Anna."
BLOCKED = "No grounded answer."

SEARCHED = MadeCall("search", {"query": "mill"}, "1", MILL, documents=(MILL,))
SEARCHED_FOG = MadeCall("search", {"query": "fog"}, "2", FOG, documents=(FOG,))
NOTES = MadeCall("notes", {"query": "mill"}, "3", MILL)
WEATHER = MadeCall("weather", {"city": "Paris"}, "7", "Sunny, 21 degrees.")
PARIS, SUNNY = "And the weather in Paris?", "It is sunny in Paris, 21 degrees."
SENT = MadeCall("send_email", {"to": "Anna"}, "4", "ok")
TODOS = MadeCall("write_todos", {"todo": "find"}, "5", "Updated todo list to find")
FAILED = MadeCall("notes", {"query": "mill"}, "6", MILL, failed=True)


@dataclass(frozen=True)
class Guarded:
    """An agent's answer behind a guard that blocks, and what becomes of it. ``label`` is None where none is noted."""

    name: str
    calls: tuple[MadeCall, ...]
    answer: str
    label: str | None
    blocked: bool = False
    question: str = "Who built the tide mill?"
    tools: tuple[str, ...] | None = None
    unretrieved: str = "annotate"

    @property
    def settings(self) -> dict[str, Any]:
        """Of the guard."""
        tools = None if self.tools is None else list(self.tools)
        return {"mode": "block", "tools": tools, "unretrieved": self.unretrieved}


GUARDED = (
    Guarded("documents support it", (SEARCHED,), MILL, "faithful"),
    Guarded("documents do not", (SEARCHED,), INVENTED, "unfaithful", blocked=True),
    Guarded("words of a tool where nothing else was retrieved", (NOTES,), MILL, "faithful"),
    Guarded("words of a tool on what was asked about", (WEATHER,), SUNNY, "faithful", question=PARIS),
    Guarded("words of a tool on another place", (WEATHER,), SUNNY.replace("Paris", "Rome"), "unfaithful", True, PARIS),
    Guarded("words of a tool beside documents", (SEARCHED_FOG, NOTES), MILL, "unfaithful", blocked=True),
    Guarded("words of a named tool beside documents", (SEARCHED_FOG, NOTES), MILL, "faithful", tools=("notes",)),
    Guarded("an acknowledgement", (TODOS,), MILL, "NA"),
    Guarded("a failure", (FAILED,), MILL, "NA"),
    Guarded("the report of a call", (SEARCHED, SENT), REPORT, "NA", question="Mail Anna who built the mill."),
    Guarded("the report of no call", (SEARCHED,), REPORT, "unfaithful", True, "Mail Anna who built the mill."),
    Guarded("nothing retrieved", (), INVENTED, "NA"),
    Guarded("nothing retrieved, to be blocked", (), INVENTED, "NA", blocked=True, unretrieved="block"),
    Guarded("nothing retrieved nor claimed", (), "Hello!", "NA", unretrieved="block"),
    Guarded("nothing retrieved, to pass", (), INVENTED, None, unretrieved="pass"),
)


RETRIED = (
    ("retry", MILL, MILL, "faithful"),
    ("retry", INVENTED, INVENTED, "unfaithful"),
    ("retry_then_block", MILL, MILL, "faithful"),
    ("retry_then_block", INVENTED, BLOCKED, "unfaithful"),
)
"""Mode, what a model says that is told that its first answer (`INVENTED`) is not supported, what is left, its label."""


SOURCES = [
    {"id": "9f86d081-884c-4d65-9a2f-eaa0c55ad015", "text": MILL, "metadata": {
        "title": "The mill", "url": "https://ellery.example/mill"}},
    {"id": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752", "text": FOG,
     "metadata": {"source": "/srv/files/weather.pdf", "page": 9}},
    {"id": "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13", "text": "Port Ellery has two cranes.",
     "metadata": {}},
]  # fmt: skip
"""Documents with ids that no person reads."""
CITED: list[tuple[str, list[str]]] = [
    (MILL, ["[1] The mill, https://ellery.example/mill"]),
    (FOG, ["[1] weather.pdf, page 9"]),
    ("Port Ellery has two cranes.", ["[1] Port Ellery has two cranes."]),
    ("Hello!", []),
]
"""Answers, and the list of sources of each."""
