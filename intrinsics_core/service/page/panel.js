/** What one runtime says about what was given: it is asked, and each verdict is put into its place as it comes. */

import { answerView } from "./answer.js";
import { questionOf } from "./conversation.js";
import { byId, el, say } from "./dom.js";
import { note, tone } from "./look.js";
import { judge } from "./service.js";
import { gateView, rankingView, searchView, trustView } from "./views.js";
import { honest, summary, trouble } from "./words.js";

const REMEMBERED = 50; // results of a panel

const gateOf = ({ audit, answerability }) => answerability ?? audit?.answerability;

/** The parts of a panel: the intrinsics that each is made from, its view of their results, and its tone. */
const PARTS = [
  {
    name: "gate",
    from: ["audit", "answerability"],
    view: (found) => gateOf(found) && gateView(gateOf(found)),
    look: (found) => tone(gateOf(found)?.label),
  },
  {
    name: "answer",
    from: ["audit"],
    view: ({ audit }, given, runtime) => audit && answerView(audit, given, runtime),
    look: ({ audit }) => tone(audit?.label),
  },
  {
    name: "trust",
    from: ["audit"],
    view: ({ audit }) => audit && trustView(audit),
  },
  {
    name: "ranking",
    from: ["reranking", "context-relevance"],
    view: (found, given) =>
      found.reranking && rankingView(found.reranking, found["context-relevance"], given.documents),
  },
  {
    name: "search",
    from: ["query-rewrite", "query-expansion"],
    view: (found) => searchView(found["query-rewrite"], found["query-expansion"]),
  },
];

/** The rows to send, by intrinsic: everything about the answer, or the gate where there is none; and the question. */
function rowsOf({ messages, answer, documents }) {
  const question = questionOf(messages);
  const rows = {};
  if (answer) rows.audit = { messages: [...messages, { role: "assistant", content: answer }], documents };
  else if (question.length) rows.answerability = { messages: question, documents };
  if (question.length) {
    rows["query-rewrite"] = { messages: question };
    rows["query-expansion"] = { messages: question, documents };
    if (documents.length) rows.reranking = rows["context-relevance"] = { messages: question, documents };
  }
  return rows;
}

export class Panel {
  constructor(runtime) {
    this.runtime = runtime;
    this.element = byId("panel").content.firstElementChild.cloneNode(true);
    this.element.setAttribute("aria-label", `Verdicts of ${runtime}`);
    say(this.part("runtime"), runtime);
    for (const { name } of PARTS) this.part(name).hidden = true;
    this.known = new Map(); // what was asked -> its result: what did not change is not asked again
    this.underWay = new AbortController();
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`);
  }

  /**
   * Ask for everything and show it. What was still being asked is given up.
   * @returns {Promise<{summary: string, audit?: object, error?: Problem}|null>} null where this was given up itself
   */
  async update(given) {
    this.underWay.abort();
    const { signal } = (this.underWay = new AbortController());
    const rows = rowsOf(given);
    const results = {}, errors = {};
    await Promise.all(Object.keys(rows).map(async (intrinsic) => {
      try {
        results[intrinsic] = await this.ask(intrinsic, rows[intrinsic], signal);
      } catch (error) {
        errors[intrinsic] = error;
      }
      if (!signal.aborted) this.show(intrinsic, rows, results, errors, given);
    }));
    if (signal.aborted) return null;
    for (const { name, from } of PARTS) if (!from.some((one) => one in rows)) this.fill(name, [], "");
    return this.told(results, errors);
  }

  async ask(intrinsic, row, signal) {
    const body = { ...row, runtime: this.runtime };
    const key = `${intrinsic} ${JSON.stringify(body)}`;
    if (!this.known.has(key)) {
      const result = await judge(intrinsic, body, signal);
      this.known.set(key, intrinsic === "audit" ? honest(result) : result);
    }
    if (this.known.size > REMEMBERED) this.known.delete(this.known.keys().next().value);
    return this.known.get(key);
  }

  /** Show the parts that wait for nothing but this intrinsic. */
  show(intrinsic, rows, results, errors, given) {
    for (const { name, from, view, look } of PARTS) {
      const asked = from.filter((one) => one in rows);
      if (!asked.includes(intrinsic) || !asked.every((one) => one in results || one in errors)) continue;
      const elements = view(results, given, this.runtime);
      const error = asked.map((one) => errors[one]).find(Boolean);
      const failed = error ? [this.failure(error)] : [];
      this.fill(name, [...(elements || []), ...failed], error ? "bad" : look?.(results) ?? "");
    }
  }

  /** Put elements into a part; one without any is not shown. */
  fill(name, elements, look) {
    const part = this.part(name);
    part.hidden = !elements.length;
    part.className = `step ${look}`;
    part.querySelector("div").replaceChildren(...elements);
  }

  failure(error) {
    const again = el("button", { type: "button" }, "Ask again");
    again.addEventListener("click", () => this.element.dispatchEvent(new Event("again", { bubbles: true })));
    const [meaning, said] = trouble(error);
    return note(meaning, "bad", " ", el("span", {}, said), " ", again);
  }

  /** The whole of it in a sentence or two. */
  told(results, errors) {
    const error = errors.audit ?? errors.answerability ?? Object.values(errors)[0];
    const gate = gateOf(results);
    const words = results.audit ? summary(results.audit) : error ? trouble(error)[0]
      : gate ? `The question is ${gate.label} from these documents.` : "";
    say(this.part("summary"), words);
    return { summary: words, audit: results.audit, error };
  }

  /** Give up what is being asked. */
  close() {
    this.underWay.abort();
  }
}
