/** The answer with a verdict on each sentence: why it has it, and the documents at the place that it rests on. */

import { el } from "./dom.js";
import { bar, note, tag, tone } from "./look.js";
import { cut } from "./points.js";
import { Sources } from "./sources.js";
import { labelOf, oddities, why } from "./words.js";

const WRONG = {
  unsupported: "no document says what it is cited for",
  misattributed: "another document says it",
  not_found: "these words stand in no document",
  no_document: "there is no such document",
};
const SEVERITY = ["unfaithful", "no verdict", "partial", "faithful", "NA"];

/** The view of an audit. `key` tells its ids from those of another runtime beside it. */
export function answerView(audit, given, key) {
  const numbers = numbered(audit.sentences);
  const sources = new Sources(given.documents, `The documents, as ${key} cites them`);
  const card = el("div", { class: "note why", id: `why-${key}`, tabindex: -1 });
  const links = [];

  function select(i, citations = audit.sentences[i].citations) {
    links.forEach((link, other) => link.classList.toggle("selected", other === i));
    const sentence = audit.sentences[i];
    card.className = `note why ${tone(sentence.label)}`;
    card.replaceChildren(...reasons(sentence, i, audit.sentences.length, numbers, (citation) => select(i, [citation])));
    sources.show(citations);
  }

  const wrong = (audit.marks ?? []).filter(({ verdict }) => WRONG[verdict]);
  const ranges = audit.sentences.map((sentence, i) => ({ begin: sentence.begin, end: sentence.end, i }));
  const said = cut(given.answer, ranges).flatMap((piece) => {
    if (!piece.ranges.length) return [piece.text];
    const { i } = piece.ranges[0];
    const link = sentenceLink(audit.sentences[i], piece, `#why-${key}`, wrong);
    link.addEventListener("pointerenter", () => select(i));
    link.addEventListener("focus", () => select(i));
    links.push(link);
    return [link, ...references(audit.sentences[i].citations, numbers)];
  });
  if (links.length) select(worst(audit.sentences));
  return [
    ...oddities(audit).map(([words, look]) => note(words, look)),
    el("div", { class: "said", dir: "auto" }, ...said),
    links.length ? card : null,
    ...wrong.map(({ text, verdict, found }) => note(`${text}: ${WRONG[verdict]}${found ? ` (“${found.text}”)` : ""}.`, "bad")),
    given.documents.length ? sources.element : null,
  ].filter(Boolean);
}

function sentenceLink(sentence, piece, href, wrong) {
  const label = labelOf(sentence);
  const within = ({ begin, end }) => ({ begin: begin - piece.begin, end: end - piece.begin });
  const inside = wrong.filter(({ begin, end }) => sentence.begin <= begin && end <= sentence.end);
  const spans = [...(sentence.spans ?? []), ...inside].map(within);
  const words = cut(piece.text, spans).map(({ text, ranges }) =>
    (ranges.length ? el("u", { class: "fault" }, text) : text));
  const mark = el("mark", { class: `${tone(label)}${label === "no verdict" ? " unjudged" : ""}` }, ...words);
  const unseen = el("span", { class: "unseen" }, ` (${label}: ${why(sentence).join(" ")})`);
  return el("a", { class: "sentence", href }, mark, unseen);
}

function* references(citations, numbers) {
  const cited = [...new Set(citations.map((citation) => numbers.get(spot(citation))))];
  if (!cited.length) return;
  const words = cited.map((number) => `[${number}]`).join("");
  yield el("sup", { "aria-hidden": "true" }, "\u2060", el("b", {}, words)); // joined to the sentence's last word
}

/** Why the sentence has its verdict, and a button for each place that it rests on. */
function reasons(sentence, i, count, numbers, show) {
  const label = labelOf(sentence);
  const quotes = sentence.citations.map((citation) => {
    const { document_id: id, document_begin: begin, document_end: end } = citation;
    const where = `[${numbers.get(spot(citation))}] ${id}, characters ${begin}–${end}`;
    const button = el("button", { type: "button" }, where);
    button.addEventListener("click", () => show(citation));
    button.addEventListener("pointerenter", () => show(citation));
    return button;
  });
  return [
    el("p", {}, `Sentence ${i + 1} of ${count} `, tag(label), " ", bar(sentence.score, "faithfulness", tone(label))),
    ...why(sentence).map((words) => el("p", {}, words)),
    quotes.length && el("p", { class: "row" }, label === "unfaithful" ? "Nearest to it:" : "Rests on:", ...quotes),
  ].filter(Boolean);
}

const spot = (citation) => `${citation.document_index}:${citation.document_begin}:${citation.document_end}`;

/** A number from 1 for each cited place, in the order of the sentences. */
function numbered(sentences) {
  const spots = new Set(sentences.flatMap(({ citations }) => citations.map(spot)));
  return new Map([...spots].map((where, i) => [where, i + 1]));
}

/** Which sentence a reader should look at first. */
function worst(sentences) {
  const ranks = sentences.map((sentence) => SEVERITY.indexOf(labelOf(sentence)));
  return ranks.indexOf(Math.min(...ranks));
}
