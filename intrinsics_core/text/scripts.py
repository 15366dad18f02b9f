"""Whether the small models were fitted on the language of a text: on English alone, so far.

Another script is told by its letters. Another language in Latin letters is told by its commonest words, where they
outnumber the English ones: a foreign name, title or quotation in an English text does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_LOOKED_AT = 2_000  # characters of a text; a script or a language shows in less
_OTHER = 0.5  # share of letters from which on a text is of another script: names and quotes in one are common

# Words that nearly every sentence has, those left out that English spells alike ("die", "in", "a", "on", "me", "son").
_COMMON = {
    "German": "der und ist das nicht wird wurde mit für auf ein eine einen dem den des sich auch von wie wann wer wo zu"
    " bei nach werden sind sie er ich wir kann haben hat oder aber zum zur im am",
    "French": "le la les des est une un et du dans que qui pour par sur avec pas sont il elle nous vous au aux ce cette"
    " quand où quel quelle quels était été ne se plus ou mais",
    "Spanish": "el la los las de que y en un una es por con para del se no su al lo como más pero cuándo cuál qué quién"
    " dónde fue son está este esta ser",
    "Italian": "il lo la gli di che è un una per con del della dei nel nella sono non si da come più quando chi cosa"
    " dove anche alla era stato le",
    "Portuguese": "o os as de que e em um uma é por com para do da dos das não se ao na no como mais quando quem onde"
    " foi são está seu sua",
    "Dutch": "de het een en van is niet met voor op dat zijn wordt werd aan bij ook naar wie wanneer waar hoe deze dit"
    " maar uit hebben heeft kan werd worden door",
    "Swedish": "och att det som en är på för av med inte den till var ett har om när vem hur eller kan från",
    "Danish": "og at det som en er på for af med ikke den til var et har om hvornår hvem hvor eller kan fra",
    "Polish": "i w z na się nie do to jest że o jak po co przez dla od kto kiedy gdzie są był była oraz ale został"
    " została zostało jest był",
    "Turkish": "ve bir bu da için ile çok ne var olarak daha gibi kadar değil nasıl kim nerede mi",
    "Indonesian": "yang dan di ini itu dengan untuk dari pada adalah tidak ke akan juga apa siapa kapan bagaimana oleh",
}
_COMMON_ENGLISH = (
    "the of and to is was were are in that it for with as by on be this from at which have has not or an its"
    " but what when who how where why does did do can will would should their they he she you we i if than"
    " then there all about into"
)
_ENGLISH = frozenset(_COMMON_ENGLISH.split())
_WORDS = {language: frozenset(words.split()) - _ENGLISH for language, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")


def unfitted_language(text: str) -> str | None:
    """The script, as Unicode names it ("Cyrillic"), or language ("German") of a text that is not English; else None.

    A few words that say nothing of their language count as English.
    """
    looked_at = text[:_LOOKED_AT]
    return _script(looked_at) or _language(looked_at)


def _script(text: str) -> str | None:
    letters = [c for c in text if c.isalpha()]
    other = [c for c in letters if not c.isascii()]
    names = Counter(unicodedata.name(c, "unknown").split()[0] for c in other)
    del names["LATIN"]
    if not letters or sum(names.values()) < _OTHER * len(letters):
        return None
    name = names.most_common(1)[0][0]
    return name if name == "CJK" else name.capitalize()


def _language(text: str) -> str | None:
    words = {word.casefold() for word in _WORD.findall(text)}
    english = len(words & _ENGLISH)
    found = {language: len(words & common) for language, common in _WORDS.items()}
    best = max(found, key=lambda language: found[language])
    return best if found[best] >= 2 and found[best] > 2 * english and 5 * found[best] >= len(words) else None
