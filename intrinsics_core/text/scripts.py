"""Whether the small models were fitted on the language of a text: on English alone, so far.

Another script is told by its letters. Another language in Latin letters is told by its commonest words, where they
outnumber the English ones; a foreign name or title in an English text does not count. Which one it is is a guess among
neighbours: a Catalan text may pass for Spanish, and one in a language that is not listed for none at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from intrinsics_core.text.words import word_set

LOOKED_AT = 2_000
"""Characters of a text that are looked at; a script or a language shows in less."""
_OTHER, _OTHER_BEHIND_ENGLISH = 0.5, 0.85  # shares of letters; behind an English word it may be a long title

# Words that nearly every sentence has. What English spells alike ("die", "van", "per", "come") is left out.
_COMMON = {
    "German": "der und ist das nicht wird wurde mit für auf ein eine einen dem den des sich auch von wie wann wer wo zu"
    " bei nach werden sind sie ich wir kann haben oder aber zum zur im",
    "French": "le la les une un et du dans que qui par sur avec pas sont il elle nous vous au aux ce cette quand où"
    " quel quelle quels était été ou mais",
    "Spanish": "el la los las de que y en un una por con para del lo como más pero cuándo cuál qué quién dónde fue está"
    " este esta ser",
    "Italian": "il lo la gli che è un una con del della dei nel nella sono più quando chi cosa dove anche alla era"
    " stato",
    "Portuguese": "o os de que em uma é por da das não ao na como mais quando quem onde foi são está seu sua",
    "Dutch": "de een niet met voor op dat zijn wordt werd aan bij naar wie wanneer waar hoe deze maar uit hebben heeft"
    " worden",
    "Swedish": "och att det en är på för av med inte den var ett när vem hur eller kan från",
    "Danish": "og at det en er på med ikke den var et hvornår hvem hvor eller kan fra",
    "Polish": "się nie jest że jak przez dla kto kiedy gdzie są był była oraz ale został została zostało",
    "Turkish": "ve bir için ile çok olarak daha gibi kadar değil nasıl kim nerede",
    "Indonesian": "yang itu dengan untuk pada adalah tidak ke akan juga apa siapa kapan bagaimana oleh",
}
# Between the parts of names in any language: alone they tell nothing.
_PARTICLES = word_set("de la le el los las les del du da von der den y o en na")
_ENGLISH = word_set(
    "the of and to is was were are that it for with as by on be this from at which have has not or an its but what when"
    " who how where why does did do can will would should their they he she you we i if than then there all about into"
)
_WORDS = {language: word_set(words) - _ENGLISH for language, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")


def unfitted_language(text: str) -> str | None:
    """The script, as Unicode names it ("Cyrillic"), or language ("German") of a text that is not English; else None.

    A few words that say nothing of their language count as English.
    """
    found = _WORD.findall(text[:LOOKED_AT])
    english = bool(found) and found[0].casefold() in _ENGLISH
    return _script("".join(found), _OTHER_BEHIND_ENGLISH if english else _OTHER) or _language(found)


def _script(letters: str, share: float) -> str | None:
    names = Counter(unicodedata.name(letter, "unknown").split()[0] for letter in letters if not letter.isascii())
    del names["LATIN"]
    if not letters or sum(names.values()) < share * len(letters):
        return None
    name = names.most_common(1)[0][0]
    return name if name == "CJK" else name.capitalize()


def _language(found_words: list[str]) -> str | None:
    # A capital inside a text begins a name more often than a sentence.
    words = {word.casefold() for i, word in enumerate(found_words) if i == 0 or word.islower()}
    english = len(words & _ENGLISH)
    found = {language: words & common for language, common in _WORDS.items()}
    best = max(found, key=lambda language: len(found[language]))
    hits = len(found[best])
    sure = hits >= 2 and hits > 2 * english and 5 * hits >= len(words) and not found[best] <= _PARTICLES
    return best if sure else None
