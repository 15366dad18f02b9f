/** The smaller verdicts as elements. Each takes a result of the service and gives a list of elements. */

import { el } from "./dom.js";
import { bar, note, tag, tone } from "./look.js";
import { meaning, oddities } from "./words.js";

const odd = (result) => oddities(result).map(([words, look]) => note(words, look));

export function gateView(gate) {
  return [
    el("p", {}, tag(gate.label), " ", bar(gate.probability, "probability of answerable", tone(gate.label))),
    el("p", {}, meaning(gate.label)),
    ...odd(gate),
  ];
}

export function trustView(audit) {
  const meters = [
    ["certainty", audit.certainty],
    ["faithfulness", audit.score, tone(audit.label)],
    ["addresses the question", audit.answer_relevance],
  ];
  return [
    el("div", { class: "meters" }, ...meters.map(([name, score, look]) =>
      el("div", {}, el("span", {}, name), bar(score, name, look)))),
    ...audit.disagreements.map((words) => note(`These verdicts do not go together: ${words}.`)),
  ];
}

/** The documents with their new and old places. `relevance` may be null: then there are no labels. */
export function rankingView(ranking, relevance, documents) {
  const labels = new Map(relevance?.judgements.map(({ index, label }) => [index, label]));
  const best = Math.max(...ranking.ranking.map(({ score }) => score ?? 0)) || 1;
  const rows = ranking.ranking.map(({ rank, index, score }) => el("tr", {},
    el("td", {}, String(rank)),
    el("td", {}, String(index + 1), " ", moved(index + 1 - rank)),
    el("td", {}, documents[index]?.id ?? String(index), " ", labels.has(index) ? tag(labels.get(index)) : null),
    el("td", {}, bar(score, "score", tone(labels.get(index)), best))));
  const heads = ["rank", "given as", "document", "score"].map((name) => el("th", { scope: "col" }, name));
  return [
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Ranking" },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))),
    ...odd(ranking),
  ];
}

function moved(places) {
  if (!places) return el("span", { class: "faint" }, "stays");
  return el("span", { class: places > 0 ? "up" : "down" }, places > 0 ? `↑ up ${places}` : `↓ down ${-places}`);
}

/** The question, standing alone, and other ways to ask for the same. Either may be null. */
export function searchView(rewrite, expansion) {
  const found = [];
  if (rewrite) {
    const label = rewrite.changed ? tag("rewritten", "warn") : tag("stands alone", "ok");
    found.push(el("p", { class: "then", dir: "auto" }, rewrite.query, " ", label));
    if (rewrite.retrieval_query !== rewrite.query) {
      found.push(el("p", {}, "With words for the search: ", el("span", { dir: "auto" }, rewrite.retrieval_query)));
    }
    found.push(...odd(rewrite));
  }
  const told = [rewrite?.query, rewrite?.retrieval_query];
  const others = expansion?.queries.filter(({ text }) => !told.includes(text)) ?? [];
  if (others.length) {
    found.push(el("p", {}, "Searched for side by side:"),
      el("ul", {}, ...others.map(({ text, strategy }) => el("li", { dir: "auto" }, text, " ", tag(strategy)))));
  }
  return [...found, ...(expansion ? odd(expansion) : [])];
}
