/** What to take away: what was judged as a program, and the report. */

import { byId, el, say } from "./dom.js";
import { Problem, ask, hasToken } from "./service.js";
import { SNIPPETS } from "./snippets.js";
import { trouble } from "./words.js";

let current; // gives what is written now, and the runtime that judges it
let chosen = null; // the name of the snippet that is shown

/** Set the buttons up. `now` is a function that gives {given, runtime}. */
export function offer(now) {
  current = now;
  byId("report").addEventListener("click", download);
  byId("copy-as").append(...Object.keys(SNIPPETS).map((name) => {
    const button = el("button", { type: "button", "aria-pressed": "false" }, name);
    button.addEventListener("click", () => copy(name));
    return button;
  }));
}

/** Show the chosen program for what is written now. */
export function showCode() {
  byId("code").hidden = !chosen;
  if (!chosen) return;
  const { given, runtime } = current();
  const service = { runtime, url: new URL(".", location.href).href, token: hasToken() };
  byId("code").textContent = SNIPPETS[chosen](given, service);
}

async function copy(name) {
  chosen = name;
  for (const button of byId("copy-as").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.textContent === name));
  }
  showCode();
  try {
    await navigator.clipboard.writeText(byId("code").textContent);
    say(byId("take-told"), `Copied as ${name}.`);
  } catch {
    getSelection().selectAllChildren(byId("code"));
    say(byId("take-told"), "The browser does not let this page copy. The code is selected: copy it yourself.");
  }
}

async function download() {
  const { given: { messages, answer, documents }, runtime } = current();
  const turns = answer ? [...messages, { role: "assistant", content: answer }] : messages;
  try {
    const response = await ask("v1/report", { messages: turns, documents, runtime });
    const url = URL.createObjectURL(await response.blob());
    el("a", { href: url, download: "report.html" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    say(byId("take-told"), "The report is being downloaded.");
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    say(byId("take-told"), trouble(problem).join(" "));
  }
}
