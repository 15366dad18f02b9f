/** The documents as a reader sees them, scrolled to the exact place that a sentence rests on. */

import { el, shown } from "./dom.js";
import { cut } from "./points.js";

export class Sources {
  /** @param {{id?: string, text: string}[]} documents as they were sent */
  constructor(documents, name) {
    this.documents = documents;
    this.texts = documents.map(({ text }) => el("p", { class: "text", dir: "auto" }, text));
    const articles = documents.map(({ id }, i) => el("article", {}, el("h4", {}, id ?? String(i)), this.texts[i]));
    this.element = el("div", { class: "sources", tabindex: 0, role: "region", "aria-label": name }, ...articles);
    this.marked = new Set();
  }

  /** Mark what these citations rest on, and scroll to the first. Without any, nothing is marked. */
  show(citations) {
    const touched = new Set([...this.marked, ...citations.map((citation) => citation.document_index)]);
    this.marked = new Set();
    for (const index of touched) {
      const here = citations.filter((citation) => citation.document_index === index)
        .map((citation) => ({ begin: citation.document_begin, end: citation.document_end }));
      if (here.length) this.marked.add(index);
      this.texts[index]?.replaceChildren(...cut(this.documents[index].text, here)
        .map((piece) => (piece.ranges.length ? el("mark", { class: "cited" }, piece.text) : shown(piece.text))));
    }
    const place = this.texts[citations[0]?.document_index]?.querySelector("mark");
    if (place) this.scrollTo(place);
  }

  scrollTo(place) {
    const down = place.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
    this.element.scrollTop += down - this.element.clientHeight / 3;
  }
}
