"""From rows to pairs: each maker turns one row into the pairs that belong in one batch, or into none.

A maker is a function of (row, rng): the same row drawn again gives another edit, another window, another question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random

from intrinsics_core.embedded.rewrite.readings import readings, runs
from intrinsics_core.embedded.rewrite.standing_alone import as_read
from intrinsics_core.text.words import AUXILIARY
from training.reader.data import Claim, Passage, Question, Turn
from training.reader.edits import (
    Scene,
    borrowed,
    content_words,
    exchange_names,
    exchange_numbers,
    false_twin,
    names,
    numbers,
)
from training.reader.nearest import nearest
from training.reader.pairs import Pair, Task, Unit
from training.reader.paraphrases import FRAMES, framed, true_twin
from training.reader.prose import content, found, sentence_like, weight, windows
from training.reader.questions import asked
from training.reader.wordnet import WordNet

FINITE = (
    rf"(?:{AUXILIARY}|be|costs?|opens?|closes?|includes?|offers?|pays?|takes?|gets?|needs?|allows?|starts?|ends?)\b"
)
"""Verbs by which a line is told from a mere name; alternatives of a pattern."""

_BETWEEN_CLAUSES = re.compile(r"(?:;|,(?: and| but| while| whereas)?) (?!\d)|: ")
_BOUNDS = re.compile(
    r"\b(?:if|unless|when|whenever|until|till|only|except|without|provided|though|although|because|so|or|not|nor|"
    r"neither|either|than|said|says?|claims?|thinks?|hopes?)\b|\?|\"",
    re.IGNORECASE,
)
_SAYS = re.compile(FINITE)
_SUBJECT = re.compile(r"(?:the|an?|every|all|our|your|my|you|we|I|\d+|[A-Z][\w'’-]*) (?!other|latter|former)")
_LEANS = re.compile(
    r"(?:It|Its|He|She|They|His|Hers?|Their|This|That|These|Those|There|Then|Both|Each|One|With|From|At|In|On|As|After|"
    r"Before|To)\b"
)
_PREMISES = ("name", "number", "number_word", "date", "opposite", "negate", "other_word")
WINDOW = 85  # words of a passage window
WIDE = 160  # words of a wide one
EVIDENCE = 90  # words of source sentences beside a claim


def scene(text: str, net: WordNet, also: str = "") -> Scene:
    """What an edit may draw on, from the text beside the claim and from the rest of its article."""
    whole = f"{text} {also}"
    return Scene(text, names(whole), numbers(whole), content_words(whole), net)


def _cut(words: str, most: int) -> str:
    parts = words.split()
    return " ".join(parts[:most]) if len(parts) > most else words


def surroundings(parts: Sequence[str], at: int, rng: Random) -> str:
    """The sentence alone, with its neighbours, or with others of its passage, as a search would find them."""
    draw = rng.random()
    if draw < 0.35 or len(parts) == 1:
        return parts[at]
    if draw < 0.7:
        begin, end = max(0, at - rng.randint(0, 1)), at + 1 + rng.randint(0, 1)
        chosen = list(range(begin, min(end, len(parts))))
    else:
        others = rng.sample([i for i in range(len(parts)) if i != at], min(2, len(parts) - 1))
        chosen = sorted([at, *others])
    while len(chosen) > 1 and sum(len(parts[i].split()) for i in chosen) > EVIDENCE:
        chosen.remove(max((i for i in chosen if i != at), key=lambda i: abs(i - at)))
    return " ".join(parts[i] for i in chosen)


def evidence(row: Claim, rng: Random | None = None) -> str:
    """The few source sentences that a claim is read beside; sometimes the known ones, sometimes one more."""
    if sum(len(s.split()) for s in row.sources) <= 60:
        return " ".join(row.sources)
    if rng is not None and row.gold and rng.random() < 0.7:
        chosen = sorted(row.gold)
    else:
        count = 2 if rng is None else rng.choice((2, 2, 3, 6))
        chosen = (nearest if len(row.sources) > 6 else found)(row.claim, row.sources, count)
    return _cut(" ".join(row.sources[i] for i in chosen), WIDE)


def _by_title(passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    articles: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        if passage.title:
            articles[passage.title].append(passage)
    return articles


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence that say something by themselves; none where one may bound another ("unless")."""
    if _BOUNDS.search(sentence):
        return []
    found = [clause.strip() for clause in _BETWEEN_CLAUSES.split(sentence)]
    whole = [c for c in found if len(c.split()) >= 4 and _SUBJECT.match(c) and not _LEANS.match(c)]
    return [c for c in whole if _SAYS.search(c, c.index(" ")) and c.count("(") == c.count(")")] if found[1:] else []


class Support:
    """Makers of pairs for *support*.

    Args:
        net: WordNet's tables.
        articles: passages by title, for sentences that are near and yet not said.
    """

    def __init__(self, net: WordNet, passages: Sequence[Passage]) -> None:
        self.net = net
        self.articles = _by_title(passages)

    def _pick(self, passage: Passage, rng: Random) -> int | None:
        whole = [i for i, s in enumerate(passage.sentences) if sentence_like(s)]
        return rng.choice(whole) if whole else None

    def edited(self, passage: Passage, rng: Random) -> Unit:
        """A sentence said otherwise, beside the same with one thing changed; or the source changed instead."""
        at = self._pick(passage, rng)
        if at is None:
            return ()
        parts, body = passage.sentences, " ".join(passage.sentences)
        source = surroundings(parts, at, rng)
        around = scene(source, self.net, body)
        if passage.title and rng.random() < 0.3:
            source = f"{passage.title}: {source}"
        true, _ = true_twin(parts[at], passage.title, self.net, rng)
        if rng.random() < 0.15:
            new = false_twin(parts[at], around, rng)
            if new is None or parts[at] not in source:
                return ()
            other = source.replace(parts[at], new[0])
            return [
                Pair("support", source, true, 1.0, f"source:{new[1]}"),
                Pair("support", other, true, 0.0, f"source:{new[1]}"),
            ]
        new = false_twin(true, around, rng)
        if new is None:
            return ()
        false = new[0]
        draw = rng.random()
        if draw < 0.1:
            frame = rng.choice(FRAMES)
            true, false = framed(true, frame), framed(false, frame)
        elif draw < 0.22 and len(parts) > 1:
            other = rng.choice([i for i in range(len(parts)) if i != at])
            if len(parts[other].split()) < 35 and parts[other] not in source:
                source = " ".join(parts[i] for i in sorted((at, other)))
            if parts[other] in source:
                said, _ = true_twin(parts[other], passage.title, self.net, rng)
                both = [said, true] if rng.random() < 0.5 else [true, said]
                false = " ".join(false if s is true else s for s in both)
                true = " ".join(both)
        return [
            Pair("support", source, true, 1.0, f"edit:{new[1]}"),
            Pair("support", source, false, 0.0, f"edit:{new[1]}"),
        ]

    def exchanged(self, passage: Passage, rng: Random) -> Unit:
        """Who and whom, or two numbers, change places; or a value of the sentence beside stands for this one's."""
        parts = passage.sentences
        order = [i for i, s in enumerate(parts) if sentence_like(s)]
        rng.shuffle(order)
        for at in order[:4]:
            true, _ = true_twin(parts[at], passage.title, self.net, rng, most=2)
            beside = [i for i in (at - 1, at + 1, at + 2) if 0 <= i < len(parts) and len(parts[i].split()) < 40]
            other = rng.choice(beside) if beside else at
            source = " ".join(parts[i] for i in sorted({at, other}))
            alone = Scene(parts[at], names(parts[other]), numbers(parts[other]), (), self.net)
            tries = [exchange_names, exchange_numbers, borrowed, borrowed] if other != at else [exchange_names]
            rng.shuffle(tries)
            for edit in tries:
                false = edit(true, alone, rng)
                if false and false != true:
                    text = source if edit is borrowed or rng.random() < 0.5 else parts[at]
                    kind = f"exchanged:{edit.__name__}"
                    return [Pair("support", text, true, 1.0, kind), Pair("support", text, false, 0.0, kind)]
        return ()

    def part_said(self, passage: Passage, rng: Random) -> Unit:
        """One clause of a sentence, as it stands there, beside the same with a value of another clause or an edit."""
        parts = passage.sentences
        at, clause = rng.choice([(i, c) for i, s in enumerate(parts) for c in clauses(s)] or [(0, "")])
        if not clause:
            return ()
        rest = parts[at].replace(clause, " ")
        true = f"{clause[0].upper()}{clause[1:].rstrip('.')}."
        alone = Scene(clause, names(rest), numbers(rest), (), self.net)
        false = borrowed(true, alone, rng) if rng.random() < 0.7 else None
        if not false:
            new = false_twin(true, scene(parts[at], self.net, " ".join(parts)), rng)
            false = new[0] if new else true
        if false == true:
            return ()
        source = surroundings(parts, at, rng)
        return [Pair("support", source, text, label, "part") for text, label in ((true, 1.0), (false, 0.0))]

    def labelled(self, row: Claim, rng: Random) -> Unit:
        """A row as people labelled it."""
        query = f"{row.question} {row.claim}" if row.question else row.claim
        return [Pair("support", evidence(row, rng), query, row.label, row.set)]

    def paraphrase_edited(self, row: Claim, rng: Random) -> Unit:
        """A supported claim in somebody's own words, beside the same with one thing changed."""
        if row.label < 1:
            return ()
        source = evidence(row, rng)
        new = false_twin(row.claim, scene(source, self.net), rng)
        if new is None:
            return ()
        ask = f"{row.question} " if row.question else ""
        return [
            Pair("support", source, ask + row.claim, 1.0, f"own words:{new[1]}"),
            Pair("support", source, ask + new[0], 0.0, f"own words:{new[1]}"),
        ]

    def plausible(self, passage: Passage, rng: Random) -> Unit:
        """A sentence of the same article that the source does not hold, alone or added to one that it does."""
        at = self._pick(passage, rng)
        others = [p for p in self.articles.get(passage.title, ()) if p is not passage] or [passage]
        elsewhere = rng.choice(others)
        options = [s for s in elsewhere.sentences if sentence_like(s)]
        if at is None or not options:
            return ()
        parts = passage.sentences
        source = surroundings(parts, at, rng)
        near = max(rng.sample(options, min(4, len(options))), key=lambda s: weight(content(s) & content(source)))
        if near in source or weight(content(near) - content(source)) < 0.35 * weight(content(near)):
            return ()
        true, _ = true_twin(parts[at], passage.title, self.net, rng)
        near, _ = true_twin(near, passage.title, self.net, rng)
        if rng.random() < 0.5:
            rest = [s for s in parts if s in source and s != parts[at]]
            more = true_twin(rng.choice(rest), passage.title, self.net, rng)[0] if rest else ""
            true, near = f"{true} {more}".strip(), f"{true} {near}" if rng.random() < 0.6 else f"{near} {true}"
        return [Pair("support", source, true, 1.0, "plausible"), Pair("support", source, near, 0.0, "plausible")]

    def short_answer(self, row: Question, rng: Random) -> Unit:
        """A question with its answer as the claim, beside the question with another span of the passage."""
        answers = [a for a in row.answers if 0 < len(a.split()) <= 40]
        if not row.answerable or not answers:
            return ()
        answer = rng.choice(answers)
        at = next((i for i, s in enumerate(row.sentences) if answer in s), None)
        if at is None:
            return ()
        source = surroundings(row.sentences, at, rng)
        wrong = like(answer, " ".join(row.sentences), row.question, rng)
        if wrong is None or wrong.lower() in answer.lower() or answer.lower() in wrong.lower():
            return ()
        form = rng.choice(("{}", "{}", "{}.", "It is {}.", "The answer is {}."))
        return [
            Pair("support", source, f"{row.question} {form.format(answer)}", 1.0, "short answer"),
            Pair("support", source, f"{row.question} {form.format(wrong)}", 0.0, "short answer"),
        ]

    def asked_answer(self, passage: Passage, rng: Random) -> Unit:
        """A question made from a statement, with the answer taken out of it and with another of the passage."""
        at = self._pick(passage, rng)
        options = [q for q in asked(passage.sentences[at], rng) if q.kind != "closed"] if at is not None else []
        if at is None or not options:
            return ()
        chosen = options[0]
        wrong = like(chosen.answer, " ".join(passage.sentences), chosen.question, rng)
        if wrong is None or content(wrong) <= content(chosen.answer):
            return ()
        source = surroundings(passage.sentences, at, rng)
        return [
            Pair("support", source, f"{chosen.question} {chosen.answer}", 1.0, "asked answer"),
            Pair("support", source, f"{chosen.question} {wrong}", 0.0, "asked answer"),
        ]

    def yes_or_no(self, passage: Passage, rng: Random) -> Unit:
        """`Was it built in 1990? Yes` beside `No`, and beside `Yes` to a changed question."""
        at = self._pick(passage, rng)
        closed = [q for q in asked(passage.sentences[at], rng) if q.kind == "closed"] if at is not None else []
        if at is None or not closed:
            return ()
        source, question = surroundings(passage.sentences, at, rng), closed[0].question
        true, _ = true_twin(passage.sentences[at], passage.title, self.net, rng)
        tails = (
            ("Yes", "No"),
            ("Yes.", "No."),
            ("Yes, it says so.", "No, it does not."),
            (f"Yes, {lowered(true)}", f"No, {lowered(true)}"),
        )
        yes, no = rng.choice(tails)
        pairs = [
            Pair("support", source, f"{question} {yes}", 1.0, "yes or no"),
            Pair("support", source, f"{question} {no}", 0.0, "yes or no"),
        ]
        new = false_twin(question, scene(source, self.net, " ".join(passage.sentences)), rng)
        if new is not None and len(yes) < 20:
            pairs.append(Pair("support", source, f"{new[0]} {yes}", 0.0, "yes or no"))
            if new[1] in ("opposite", "negate", "number", "date", "number_word", "exchange_numbers"):
                pairs.append(Pair("support", source, f"{new[0]} {no}", 1.0, "yes or no"))
        return pairs


def lowered(text: str) -> str:
    """A sentence as it stands behind a comma."""
    return (
        text[0].lower() + text[1:]
        if re.match(r"(?:The|A|An|It|He|She|They|This|In|There|His|Her|Its)\b", text)
        else text
    )


def like(answer: str, text: str, question: str, rng: Random) -> str | None:
    """Another span of a text of the answer's kind: a number for a number, a name for a name, else as many words."""
    if re.search(r"\d", answer):
        options = [n for n in re.findall(r"\d[\d,.]*\d|\d", text) if n not in answer and n not in question]
        new = rng.choice(options) if options else None
        old = re.search(r"\d[\d,.]*\d|\d", answer)
        return answer.replace(old.group(), new) if new and old else None
    if re.match(r"(?:the )?[A-Z]", answer):
        options = [n for n in names(text) if n not in question and not content(n) & content(answer)]
        return rng.choice(options) if options else None
    words, size = text.split(), len(answer.split())
    starts = [
        i
        for i in range(len(words) - size)
        if not content(" ".join(words[i : i + size])) & content(f"{answer} {question}")
    ]
    return " ".join(words[(i := rng.choice(starts)) : i + size]).strip('.,;:()"') if starts and size <= 6 else None


class Answers:
    """Makers of pairs for *answers*."""

    def __init__(self, net: WordNet, passages: Sequence[Passage], questions: Mapping[str, Sequence[Question]]) -> None:
        self.net = net
        self.articles = _by_title(passages)
        self.questions = questions
        self.beside: dict[str, list[Question]] = defaultdict(list)
        asked_in = {q.sentences: q.title for q in questions.get("squad2_dev_b", ())}
        for parts, title in asked_in.items():
            self.beside[title].append(Question("squad2_dev_b", parts, "", True, title=title))
        self.answered = {(q.question, q.sentences) for some in questions.values() for q in some if q.answerable}

    def asked_of(self, row: Question, rng: Random) -> Unit:
        """A window that holds the answer, beside one that does not; or the window nearest to what has no answer."""
        parts, size = row.sentences, rng.choice((40, WINDOW, WIDE))
        runs = windows(parts, size)
        query = row.question
        if not row.answerable:
            run = max(runs, key=lambda r: weight(content(query) & content(" ".join(parts[r[0] : r[1]]))))
            return [Pair("answers", _window(row, run, rng), query, 0.0, row.set)]
        at = [i for i, s in enumerate(parts) if i in row.gold or any(a in s for a in row.answers)]
        if row.set == "pubmedqa":
            at = [len(parts) - 1]
        holding = [r for r in runs if any(r[0] <= i < r[1] for i in at)]
        if not at or not holding:
            return ()
        pairs = [Pair("answers", _window(row, rng.choice(holding), rng), query, 1.0, row.set)]
        if row.set == "squad2_dev_b":
            return [*pairs, *self._missed(row, pairs[0].text, rng)]
        without = [r for r in runs if r not in holding]
        if without and row.set != "pubmedqa" and rng.random() < 0.5:
            pairs.append(Pair("answers", _window(row, rng.choice(without), rng), query, 0.0, row.set))
        elif row.set in ("policyqa", "pubmedqa"):
            # Any other, not the nearest: a policy that speaks of the same thing often answers the question as well.
            other = rng.choice(self.questions[row.set])
            if (query, other.sentences) not in self.answered:
                text = _window(other, rng.choice(windows(other.sentences, size)), rng)
                pairs.append(Pair("answers", text, query, 0.0, row.set))
        return pairs

    def _missed(self, row: Question, text: str, rng: Random) -> Unit:
        """A near miss: the same article's passage that shares most words, or the question about something else."""
        others = [q for q in self.beside[row.title] if q.sentences != row.sentences]
        if others and rng.random() < 0.5:
            runs = [(q, r) for q in rng.sample(others, min(6, len(others))) for r in windows(q.sentences, WINDOW)]
            runs = [(q, r) for q, r in runs if not any(a in " ".join(q.sentences[r[0] : r[1]]) for a in row.answers)]
            wanted = content(row.question)
            if runs:
                other, run = max(
                    runs, key=lambda x: weight(wanted & content(" ".join(x[0].sentences[x[1][0] : x[1][1]])))
                )
                return [Pair("answers", _window(other, run, rng), row.question, 0.0, "squad2:other")]
        article = " ".join(s for q in others[:40] for s in q.sentences)
        new = false_twin(row.question, scene(text, self.net, article), rng, only=_PREMISES)
        if new is None:
            return ()
        return [Pair("answers", text, new[0], 0.0, f"squad2:{new[1]}")]

    def pseudo(self, passage: Passage, rng: Random) -> Unit:
        """A question made from a statement, beside a window with and without the statement, and a changed question."""
        whole = [i for i, s in enumerate(passage.sentences) if sentence_like(s)]
        if not whole:
            return ()
        at = rng.choice(whole)
        options = asked(passage.sentences[at], rng)
        if not options:
            return ()
        chosen = options[0]
        runs = [r for r in windows(passage.sentences, rng.choice((40, WINDOW, WIDE))) if r[0] <= at < r[1]]
        begin, end = rng.choice(runs)
        parts = list(passage.sentences[begin:end])
        head = f"{passage.title}: " if passage.title and rng.random() < 0.4 else ""
        question = chosen.question
        if rng.random() < 0.15:
            question = question.rstrip("?").lower()
        text = head + " ".join(parts)
        pairs = [Pair("answers", text, question, 1.0, f"pseudo:{chosen.kind}")]
        removed = [s for s in parts if s != passage.sentences[at]]
        others = [p for p in self.articles.get(passage.title, ()) if p is not passage]
        draw = rng.random()
        if draw < 0.4 and removed and chosen.answer.lower() not in " ".join(removed).lower():
            pairs.append(Pair("answers", head + " ".join(removed), question, 0.0, "pseudo:removed"))
        elif draw < 0.65 and others:
            other = rng.choice(others)
            run = max(
                windows(other.sentences, WINDOW),
                key=lambda r: weight(content(question) & content(" ".join(other.sentences[r[0] : r[1]]))),
            )
            pairs.append(
                Pair("answers", head + " ".join(other.sentences[run[0] : run[1]]), question, 0.0, "pseudo:other")
            )
        elif chosen.kind != "closed":
            new = false_twin(question, scene(text, self.net, " ".join(s for p in others[:3] for s in p.sentences)), rng)
            if new is not None and new[0].split()[:2] == question.split()[:2]:
                pairs.append(Pair("answers", text, new[0], 0.0, f"pseudo:{new[1]}"))
        return pairs


def _window(row: Question, run: tuple[int, int], rng: Random) -> str:
    text = " ".join(row.sentences[run[0] : run[1]])
    return f"{row.title}: {text}" if row.title and rng.random() < 0.5 else text


class Meant:
    """Makers of pairs for *meant*: the turns before, and a question that may be what the last one means."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.conversations: dict[str, list[Turn]] = defaultdict(list)
        for turn in turns:
            self.conversations[turn.conversation].append(turn)

    def rewritten(self, row: Turn, rng: Random) -> Unit:
        """A person's rewrite beside the bare question, the readings that a program proposes, and those of a person."""
        text = before(row)
        pairs = [Pair("meant", text, row.rewrite, 1.0, row.set)]
        added = content(row.rewrite) - content(row.question)
        if added:
            pairs.append(Pair("meant", text, row.question, 0.0, row.set))
        if row.wrong:
            pairs += [Pair("meant", text, w, 0.0, row.set) for w in rng.sample(row.wrong, min(3, len(row.wrong)))]
        proposed = [(c.text, agrees(c.text, row)) for c in readings(row.dialog)]
        right = [c for c, label in proposed if label == 1.0 and c != row.rewrite]
        wrong = [c for c, label in proposed if label == 0.0]
        if right and rng.random() < 0.6:
            pairs.append(Pair("meant", text, rng.choice(right), 1.0, row.set))
        # The likelier phrases come first: mostly those, which are harder to tell.
        for _ in range(min(2, len(wrong))):
            pairs.append(Pair("meant", text, wrong.pop(min(rng.randrange(len(wrong)), rng.randrange(len(wrong)))),
                              0.0, row.set))  # fmt: skip
        others = [t for t in self.conversations[row.conversation] if t is not row and t.rewrite != row.rewrite]
        if others and row.conversation and rng.random() < 0.3:
            pairs.append(Pair("meant", text, rng.choice(others).rewrite, 0.0, row.set))
        return pairs


def agrees(reading: str, row: Turn) -> float | None:
    """1 for a reading that says what a person's rewrite says, 0 for one that says something else, None between.

    A reading need not say all of it: the right phrase for one of two pronouns is better than none. What makes it wrong
    is what the person did not mean. More of the same name ("Martina Hingis" where they say Martina) may be that, or
    another's ("Paris Hilton"): None.
    """
    said, meant, bare = content(reading), content(row.rewrite), content(row.question)
    if fuller := _fuller(reading, row.rewrite, said & meant - bare):
        return None if _agree(said - fuller, meant, bare) else 0.0
    return _agree(said, meant, bare)


def _agree(said: frozenset[str], meant: frozenset[str], bare: frozenset[str]) -> float | None:
    if said == meant:
        return 1.0
    wanted, gained = weight(meant - bare), weight((said & meant) - bare)
    if weight(said - meant - bare) > 0.12 * weight(said) or not gained:
        return 0.0
    return 1.0 if gained >= 0.35 * wanted and weight(meant & bare - said) <= 0.1 * weight(meant) else None


def _fuller(reading: str, rewrite: str, gained: frozenset[str]) -> set[str]:
    """What the names of a reading hold beyond the same names of a rewrite."""
    mine, theirs = (
        [{t.term for t in run} for run in runs(text, lambda t: t.is_capitalised and not t.is_stop)]
        for text in (reading, rewrite)
    )
    return {
        term
        for name in mine
        for other in theirs
        if name & other & gained and other < name and not any(o - name for o in theirs if o & name)
        for term in name - other
    }


def before(row: Turn) -> str:
    """The turns before and the last question, as the product shows them."""
    return as_read(row.dialog)


Maker = Callable[..., Unit]
__all__ = ["Answers", "Maker", "Meant", "Support", "Task", "before", "evidence", "like", "scene", "surroundings"]
