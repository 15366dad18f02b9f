/** Small parts that look as in the report: tags and bars, by the report's own table of tones. */

import { el } from "./dom.js";

const { tones } = await (await fetch("page/report/tones.json")).json();

/** The tone of a label: "ok", "warn", "bad" or "na". */
export const tone = (label) => tones[label] ?? "na";

export const tag = (label, look = tone(label)) => el("span", { class: `tag ${look}` }, label);

/** A score as a bar, full at `most`, and a number; a dash where there is none. In the tone of its label; without one in none. */
export function bar(score, what, look = null, most = 1) {
  if (score === null || score === undefined) return el("span", { class: "faint" }, "–");
  const fill = el("i");
  fill.style.width = `${100 * Math.min(Math.max(score / most, 0), 1)}%`;
  const number = score.toFixed(2);
  return el("span", { class: "score" },
    el("span", { class: `bar ${look ?? ""}`, role: "img", "aria-label": `${what} ${number}` }, fill),
    el("span", { class: "num", "aria-hidden": "true" }, number));
}

/** A remark that stands out. */
export const note = (words, look = "warn", ...more) => el("p", { class: `note ${look}` }, words, ...more);
