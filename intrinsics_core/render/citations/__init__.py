"""Four ways to show citations, each written as text, as Markdown with footnotes or as JSON, and each read back.

| mode | tells |
|---|---|
| ``postfix`` | after the text, what it rests on |
| ``postfix-snippet`` | the same, with the words that are cited |
| ``inline`` | in the text, which claim rests on what |
| ``inline-snippet`` | the same, with the words: from it and the texts alone the citations come back, to the character |

No mark stands in a block of code: a claim that ends there goes on to the line behind it.

>>> view = View("inline-snippet", "It is red. It is old.", (Reference("barn", "painted red", begin=0, end=10),))
>>> print(write(view))
It is red.[1] It is old.
<BLANKLINE>
Citations, quoted:
[1] barn: "painted red"
>>> parse(write(view)) == view
True

How it is written. A number in brackets stands where a claim ends, with no space put in. The claim begins where its
sentence does (`text.stops.starts`); where it does not, the mark says how many characters back: ``[1 ←57]``, in Markdown
``[^1]<!--57-->``. What the text itself holds that looks like a mark is escaped by a backslash, and nothing else is. The
list is the end of the text, behind the last of its headings; identifiers and snippets are JSON strings in it where they
are not plain words, so each stands on one line. Where a snippet stands in a source more than once, ``#2`` says which.

JSON is the paper's (*REC: Rate, Explain and Cite*, 2024): ``{"citations": [{"context_id", "snippet"?, "claim"?}]}``,
``"None"`` where there are none; besides, the ``mode`` and the ``response``, and ``nth`` or ``claim_nth`` where a
snippet or a claim is not the first of its words. Without a ``response`` the reader must be given it.
"""

from __future__ import annotations

from intrinsics_core.render.citations.code_blocks import mark_place
from intrinsics_core.render.citations.paper_json import as_json, from_json
from intrinsics_core.render.citations.reading import parse
from intrinsics_core.render.citations.showing import metric_view, metric_views, restored, view
from intrinsics_core.render.citations.views import MODES, STYLES, Mode, Reference, Style, View
from intrinsics_core.render.citations.writing import Label, labelled, source_label, write

__all__ = [
    "MODES", "STYLES", "Label", "Mode", "Reference", "Style", "View", "as_json", "from_json", "labelled", "mark_place",
    "metric_view", "metric_views", "parse", "restored", "source_label", "view", "write",
]  # fmt: skip
