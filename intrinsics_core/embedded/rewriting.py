"""A question made to stand alone, without a language model.

What this is: term and span substitution. A pronoun that can only point back is replaced by the phrase of the
conversation most likely meant ("Is it treatable?" after a turn on throat cancer), "what about X?" takes the
form of the question before it where the two match, and the few words of the earlier turns most likely to be
in the answer are added as keywords. The words come from ``salience``: term resolution in the spirit of
QuReTeC (Voskarides et al., SIGIR 2020), span edits as in *Incomplete Utterance Rewriting as Semantic
Segmentation* (Liu et al., EMNLP 2020), with counts and a logistic regression in place of a neural tagger.
Weights of the retrieval terms follow Robertson and Sparck Jones (1976): a term is worth its idf plus the
log-odds that the answer has it.

What this is not: generation. It never invents a word, paraphrases, or resolves what is only implied ("and the
second one?"). It is made for English; elsewhere a question is only given keywords. A language model writes
better sentences and knows synonyms; what is close to it is the retrieval that the rewrite buys (see
``benchmarks/results/rewrite.md``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from intrinsics_core.embedded.lexical import Token, idf, terms, tokens, word_set
from intrinsics_core.embedded.salience import (
    AUXILIARY,
    TERM_FEATURES,
    Turn,
    dependence,
    load_head,
    plain,
    salience,
    term_features,
)

KEYWORDS = 6
"""Terms of the history in a rewritten query: where recall stops rising on the dialogs measured."""
TERMS = 20
"""Terms of the history in the weighted retrieval form."""
HISTORY_WEIGHT = 0.3
"""What a history term as certain as a term of the question is worth, next to it."""
RAREST = 7.0
"""Idf above which a word counts as no rarer when keywords are chosen: beyond it are slips of the pen."""
LONGEST_PHRASE = 5
"""Words in a substituted phrase, at most."""

_POSSESSIVE = word_set("its their his her")
_PERSON = word_set("he him his she her")
_PLURAL = word_set("they them their")
_SUBSTITUTED = word_set("it its they them their he him his she her")
_POINTERS_AT_END = word_set("this that these those")
_BEFORE_POINTER = word_set("about of for with to from in on by after before than like is are was were do does did")
_JOINERS = word_set("and but or if when because while so then that which who whether as since")
_IT_VERBS = word_set("take takes rain rains snow cost costs seem seems matter mean")
_SMALL_TALK = word_set(
    "great good nice cool awesome perfect interesting wow hmm um sure right question wonder wondering love"
    " glad sounds guess understand help appreciate"
)
_OPENS_PHRASE = word_set("the a an this that of in for on at with about from to by")
_WHAT_ABOUT = re.compile(
    r"^(?:(?:ok|okay|and|so|but|then|well|thanks|hm+)[,.! ]+)*(?:what|how) about (?P<new>[^.?!,;:]+)[.?! ]*$",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"^\s+(?:(?:still|really|even|also|not|more|less|very|usually|generally|always)\s+)*"
    r"(?:\w+\s+){1,2}(?:to|that|if|for\s+\w+\s+to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question made standalone.

    Attributes:
        query: the standalone query, for people and for any retriever: ``question`` followed by keywords in
            brackets, those of the question and then those of the conversation; ``original`` if unchanged.
        question: the question with its pronouns resolved, nothing else added.
        original: the last turn as it was given.
        retrieval_query: ``query`` with the question's own keywords once more, so that a retriever that counts
            words weighs them above the history's; ``original`` if unchanged.
        terms: ``(term, weight)``, heaviest first: stems for a retriever that takes weights. A term of the
            question weighs as often as it occurs, a term of the history at most ``HISTORY_WEIGHT``.
        dependence: probability that the question needs the conversation, 0 to 1.
        changed: whether ``query`` differs from ``original``.
    """

    query: str
    question: str
    original: str
    retrieval_query: str
    terms: tuple[tuple[str, float], ...]
    dependence: float
    changed: bool


def rewrite(conversation: Sequence[Turn], *, threshold: float | None = None, keywords: int = KEYWORDS) -> Rewrite:
    """Rewrite the last turn of a conversation so that it can be understood, and searched for, alone.

    Args:
        conversation: ``(role, text)`` turns, oldest first, ending with the user's; roles other than
            ``"user"`` and ``"assistant"`` are passed over.
        threshold: least dependence for a rewrite (default: the shipped head's ``rewrite`` threshold). 0
            always rewrites, above 1 never does.
        keywords: at most so many terms of the history are added.

    Returns:
        The rewrite; the very same text where there is no history, the question stands alone, or nothing can
        be added.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.

    >>> rewrite([("user", "What is throat cancer?")]).changed
    False
    """
    if not conversation or conversation[-1][0] != "user":
        raise ValueError("conversation: the last turn must be the user's, with role 'user'")
    original = conversation[-1][1]
    history = [(role, text) for role, text in conversation[:-1] if role in ("user", "assistant")]
    turns = [*history, ("user", original)]
    own = [token for token in tokens(original) if not token.is_stop]
    weights: dict[str, float] = {}
    for token in own:
        weights[token.term] = weights.get(token.term, 0.0) + 1.0
    needed = dependence(turns)
    least = load_head("rewrite_dependence").thresholds["rewrite"] if threshold is None else threshold
    if len(turns) < 2 or needed < least:
        return _unchanged(original, weights, needed)

    worth = history_terms(turns)
    completed = complete(turns)
    question = resolve(completed)
    # What "what about X?" put X in the place of is no longer asked about.
    replaced = _replaced(history, completed[-1][1]) if completed != turns else set()
    best = [term for term in keyword_terms(turns) if term not in replaced]
    context = phrases(_latest_first(history), best[:keywords])
    if not context and question == original:
        return _unchanged(original, weights, needed)
    asked = asked_words(original)
    query = f"{question.rstrip()} ({', '.join([*asked, *context])})" if context else question
    chosen = sorted(worth, key=lambda term: -worth[term] * idf(term))
    for term in chosen[:TERMS]:
        weights[term] = HISTORY_WEIGHT * min(1.0, worth[term])
    return Rewrite(
        query=query,
        question=question,
        original=original,
        retrieval_query=f"{query} {' '.join(asked)}".rstrip(),
        terms=_ordered(weights),
        dependence=needed,
        changed=True,
    )


def _replaced(history: Sequence[Turn], completed: str) -> set[str]:
    previous = next(text for role, text in reversed(history) if role == "user")
    return set(terms(previous)) - set(terms(completed))


def _unchanged(original: str, weights: Mapping[str, float], needed: float) -> Rewrite:
    return Rewrite(original, original, original, original, _ordered(weights), needed, False)


def _ordered(weights: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(((term, round(w, 4)) for term, w in weights.items()), key=lambda item: -item[1]))


def history_terms(conversation: Sequence[Turn]) -> dict[str, float]:
    """What each content term of the earlier turns is worth to the search, as a share of its idf.

    1 is a term as likely as not to be in the answer; terms that are worth nothing are left out.
    """
    head = load_head("rewrite_terms")
    worth = {term: 1.0 + head.logit(row) / idf(term) for term, row in term_features(conversation).items()}
    return {term: value for term, value in worth.items() if value > 0.0}


def asked_words(question: str) -> list[str]:
    """The content words of a question as it spells them, each once, small talk left out."""
    content = (t for t in tokens(question) if not t.is_stop and plain(t) not in _SMALL_TALK)
    return list({token.term: token.text for token in content}.values())


def keyword_terms(conversation: Sequence[Turn]) -> list[str]:
    """Content terms of the earlier turns, the best keyword for the last turn first.

    Ordered as ``history_terms`` by idf plus log-odds, but with idf held at ``RAREST`` and a word that only
    the assistant used, once, put one nat lower: such words are seldom what a person would search for.
    """
    head = load_head("rewrite_terms")
    alone, repeats = TERM_FEATURES.index("only_by_assistant"), TERM_FEATURES.index("repeats")
    value: dict[str, float] = {}
    for term, row in term_features(conversation).items():
        passing = bool(row[alone]) and row[repeats] < math.log1p(2)
        if len(term) == 1 and term.isascii():
            continue
        value[term] = min(RAREST, idf(term)) + head.logit(row) - passing
    return sorted((term for term in value if value[term] > 0.0), key=lambda term: -value[term])


def _adjacent(text: str, left: Token, right: Token) -> bool:
    return text[left.end : right.begin] in (" ", "-") or left.end >= right.begin


def _runs(text: str, keep: Callable[[Token], bool]) -> list[list[Token]]:
    """Longest runs of neighbouring tokens that all satisfy ``keep``."""
    runs: list[list[Token]] = []
    previous: Token | None = None
    for token in tokens(text):
        if keep(token):
            if previous is not None and runs and runs[-1][-1] is previous and _adjacent(text, previous, token):
                runs[-1].append(token)
            else:
                runs.append([token])
        previous = token
    return runs


def _surface(text: str, run: Sequence[Token]) -> str:
    return re.sub(r"['\u2019]s?$", "", text[run[0].begin : run[-1].end])


def _latest_first(history: Sequence[Turn]) -> list[str]:
    """Texts of the turns, the user's first, the latest of each first: whose wording to prefer."""
    return [text for role in ("user", "assistant") for r, text in reversed(history) if r == role]


def phrases(texts: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """The chosen terms as the texts spell them, neighbours joined, each term once, in the order chosen.

    Earlier texts are preferred for the spelling, longer phrases for the joining.
    """
    left = set(chosen)
    found: dict[str, list[str]] = {}
    runs = [(text, run) for text in texts for run in _runs(text, lambda token: token.term in left)]
    for text, run in sorted(runs, key=lambda item: -len({token.term for token in item[1]})):
        spelled = [token.term for token in run]
        if len(spelled) <= LONGEST_PHRASE and len(set(spelled)) == len(spelled) and left.issuperset(spelled):
            found[_surface(text, run)] = spelled
            left.difference_update(spelled)
    # A term that only ever occurs in runs partly used up, or too long, goes in alone.
    for text, run in runs:
        for token in run:
            if token.term in left:
                found[_surface(text, [token])] = [token.term]
                left.discard(token.term)
    rank = {term: i for i, term in enumerate(chosen)}
    return sorted(found, key=lambda phrase: min(rank[term] for term in found[phrase]))


def antecedent(conversation: Sequence[Turn], *, person: bool = False, plural: bool = False) -> str | None:
    """The phrase of the earlier turns that a pronoun of the last one most likely stands for.

    It grows from the most salient term to its neighbours at least half as salient (a quarter, inside a name).
    ``person`` asks for a capitalised phrase, ``plural`` prefers one that ends in "s" or is capitalised. None
    where no term is salient enough (threshold ``substitute`` of the head).
    """
    *history, _ = conversation
    likely = salience(conversation)
    least = load_head("rewrite").thresholds["substitute"]
    best: tuple[float, str] | None = None
    for age, text in enumerate(_latest_first(history)):
        for run in _runs(text, lambda t: likely.get(t.term, 0.0) >= least / 4.0):
            head = max(run, key=lambda token: likely[token.term])
            top = likely[head.term]
            if top < least:
                continue
            phrase = _around(run, run.index(head), likely, top)
            named = phrase[0].is_capitalised and phrase[-1].is_capitalised and len(phrase[0].text) > 1
            many = plain(phrase[-1]).endswith("s")
            if person and not named:
                continue
            mean = sum(likely[token.term] for token in phrase) / len(phrase)
            score = mean * (1.0 + 0.2 * (len(phrase) - 1)) - 0.001 * age
            score *= 0.7 if plural and not (many or named) else 1.0
            if best is None or score > best[0]:
                best = (score, _surface(text, phrase))
    return best[1] if best else None


def _around(run: Sequence[Token], at: int, likely: Mapping[str, float], top: float) -> Sequence[Token]:
    """The part of a run around one token whose neighbours are salient too; ``LONGEST_PHRASE`` at most."""

    def keep(token: Token) -> bool:
        return likely[token.term] >= top / (4.0 if token.is_capitalised and run[at].is_capitalised else 2.0)

    begin, end = at, at + 1
    while end < len(run) and end - begin < LONGEST_PHRASE and keep(run[end]):
        end += 1
    while begin > 0 and end - begin < LONGEST_PHRASE and keep(run[begin - 1]):
        begin -= 1
    return run[begin:end]


def complete(conversation: Sequence[Turn]) -> list[Turn]:
    """The conversation with "what about X?" at its end put in the form of the user's question before.

    The last phrase of that question gives way to X where it follows an article or a preposition ("Who
    discovered the electron?", "What about the proton?"); an X with a preposition of its own is appended, or
    takes the place of what follows that preposition. Anything less regular is left as it is.
    """
    *history, (_, last) = conversation
    asked = [text for role, text in history if role == "user"]
    match = _WHAT_ABOUT.match(last.strip())
    if not match or not asked or not 3 <= len(tokens(asked[-1])) <= 15:
        return list(conversation)
    earlier = asked[-1].strip().rstrip("?!. ")
    new = match["new"].strip()
    fresh, old = tokens(new), tokens(earlier)
    if not 1 <= len(fresh) <= 6 or re.search(r"[.?!,;:\n]", earlier) or fresh[-1].is_stop:
        return list(conversation)
    opener = plain(fresh[0])
    if opener in ("for", "in", "at", "on", "with"):
        begin = next((t.begin for t in reversed(old) if plain(t) == opener), None)
        stem = earlier[:begin].rstrip() if begin else earlier
        return [*history, ("user", f"{stem} {new}?")]
    phrase = next((i for i in reversed(range(len(old))) if old[i].is_stop), -1) + 1
    if 0 < phrase < len(old) and len(old) - phrase <= 3 and plain(old[phrase - 1]) in _OPENS_PHRASE:
        article = opener in ("the", "a", "an") and plain(old[phrase - 1]) in ("the", "a", "an")
        begin = old[phrase - 1].begin if article else old[phrase].begin
        return [*history, ("user", f"{earlier[:begin]}{new}?")]
    return list(conversation)


def resolve(conversation: Sequence[Turn]) -> str:
    """The last turn with the first pronoun that can only point back replaced by its antecedent.

    Left alone: pronouns that may point inside the question ("what is X and how is it taxed"), "it" without
    meaning ("is it possible to"), and those for which no phrase is salient enough.
    """
    question = conversation[-1][1]
    words = tokens(question)
    for i, token in enumerate(words):
        word = plain(token)
        if not _points_outside(question, words, i):
            continue
        phrase = antecedent(conversation, person=word in _PERSON, plural=word in _PLURAL)
        if phrase is None:
            return question
        follower = words[i + 1] if i + 1 < len(words) else None
        followed = follower is not None and not follower.is_stop
        owned = followed if word == "her" else word in _POSSESSIVE
        suffix = ("'" if phrase.endswith("s") else "'s") if owned else ""
        return question[: token.begin] + phrase + suffix + question[token.end :]
    return question


def _points_outside(question: str, words: Sequence[Token], i: int) -> bool:
    """Whether word ``i`` is a pronoun whose antecedent must lie in an earlier turn."""
    word = plain(words[i])
    before, after = words[:i], words[i + 1 :]
    if any(plain(w) in _JOINERS for w in before) and any(not w.is_stop for w in before):
        return False
    if any(w.is_capitalised and not w.is_stop for w in before[1:]):
        return False
    if re.search(r"[.!?;:,]\s", question[: words[i].begin]) and any(not w.is_stop for w in before):
        return False
    if word in _POINTERS_AT_END:
        ends = not after or bool(re.match(r"\s*[.!?,]", question[words[i].end :]))
        return ends and bool(before) and plain(before[-1]) in _BEFORE_POINTER
    if word == "it":
        tail = question[words[i].end :]
        if after and plain(after[0]) in _IT_VERBS:
            return False
        asks = bool(before) and plain(before[-1]) in AUXILIARY
        return not (asks and _EXPLETIVE.match(tail)) and not (
            after and plain(after[0]) in ("is", "was") and _EXPLETIVE.match(question[after[0].end :])
        )
    return word in _SUBSTITUTED
