/** The page: what is written in it is judged, by one runtime or by two side by side. */

import { givenOf, messagesOf } from "./conversation.js";
import { add, addFiles, documents, replace } from "./documents.js";
import { byId, el, say } from "./dom.js";
import { Panel } from "./panel.js";
import { Problem, ask, hasToken, runtimes, useToken } from "./service.js";
import { offer, showCode } from "./take.js";
import { differences, trouble } from "./words.js";

const OWN = "#own"; // the address of the page without an example
const PAUSE = 250; // milliseconds without a key until the service is asked

let panels = [];
let timer;
let started; // ends when the runtimes are known, or the service has refused to name them

const given = () => givenOf(byId("conversation").value, byId("answer").value, documents());

// --- judging ---------------------------------------------------------------------------------------------------------

function soon() {
  busy(true);
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
}

async function look() {
  busy(true);
  clearTimeout(timer);
  const all = given();
  const empty = !all.messages.length && !all.answer;
  say(byId("conversation-read"), readAs());
  for (const id of ["take", "panels"]) byId(id).hidden = empty;
  byId("legend").hidden = !all.answer;
  byId("placeholder").hidden = !empty;
  showCode();
  await started; // until then there is no panel to judge
  const found = {}; // what each runtime says, by its name; a slow one keeps no other waiting
  const names = panels.map(({ runtime }) => runtime);
  const whole = await Promise.all(panels.map(async (panel) => {
    const told = await panel.update(all);
    if (told) {
      found[panel.runtime] = told;
      say(byId("summary"), summaryOf(names, found));
    }
    return told !== null;
  }));
  if (!whole.every(Boolean)) return; // something newer is being asked
  if (names.some((name) => found[name].error?.status === 401)) askForToken();
  compare(names, found);
  busy(false);
}

function summaryOf(names, found) {
  const told = names.filter((name) => found[name]?.summary);
  return told.map((name) => (names.length > 1 ? `${name}: ` : "") + found[name].summary).join(" ");
}

/** What stands there is of the text before, until the service has answered. */
function busy(whether) {
  byId("results").setAttribute("aria-busy", String(whether));
}

/** How a conversation was read; nothing where it is one question. */
function readAs() {
  const messages = messagesOf(byId("conversation").value);
  const roles = messages.map(({ role }) => role);
  if (!roles.length || roles.join() === "user") return "";
  return `Read as ${roles.length} ${roles.length === 1 ? "turn" : "turns"}: ${roles.join(", ")}.`;
}

/** Where two runtimes differ about the answer. */
function compare(names, found) {
  const [one, other] = names.map((name) => found[name].audit);
  byId("differences").hidden = !one || !other;
  if (!one || !other) return;
  const words = differences(one, other, names);
  byId("differences").replaceChildren(el("h3", {}, "Where they differ"), words.length
    ? el("ul", {}, ...words.map((each) => el("li", { dir: "auto" }, each)))
    : el("p", {}, "Nowhere: both give the question and every sentence the same verdict."));
}

// --- who judges ------------------------------------------------------------------------------------------------------

async function begin() {
  let names;
  try {
    names = await runtimes();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (problem.status === 401) askForToken();
    else say(byId("summary"), trouble(problem).join(" "));
    return;
  }
  byId("token-form").hidden = true;
  const options = () => names.map((name) => el("option", { value: name }, name));
  byId("runtime").replaceChildren(...options());
  byId("beside").replaceChildren(el("option", { value: "" }, "no other runtime"), ...options());
  byId("beside").disabled = names.length < 2;
  choose();
}

function choose() {
  const names = [byId("runtime").value, byId("beside").value].filter(Boolean);
  for (const panel of panels) panel.close();
  panels = [...new Set(names)].map((name) => panels.find(({ runtime }) => runtime === name) ?? new Panel(name));
  byId("panels").replaceChildren(...panels.map(({ element }) => element));
  byId("panels").classList.toggle("two", panels.length > 1);
  look();
}

function askForToken() {
  byId("token-form").hidden = false;
  byId("token").focus();
  if (hasToken()) say(byId("token-hint"), "The service refused this token.");
}

// --- samples ---------------------------------------------------------------------------------------------------------

async function samples() {
  const all = await (await ask("page/samples.json")).json();
  byId("samples").append(...all.map((sample) => {
    const button = el("button", { type: "button", title: sample.shows }, sample.name);
    button.addEventListener("click", () => load(sample));
    return button;
  }), el("a", { href: OWN }, "Start empty"));
  const { messages, answer } = given();
  if (location.hash !== OWN && !messages.length && !answer) load(all[0]);
}

/** What stands in the fields is taken away where the address says so. */
function clear() {
  if (location.hash === OWN) load({ conversation: "", answer: "", documents: [{ title: "", text: "" }] });
}

function load(sample) {
  byId("conversation").value = sample.conversation;
  byId("answer").value = sample.answer;
  replace(sample.documents);
  look();
}

// --- the page --------------------------------------------------------------------------------------------------------

addEventListener("hashchange", clear);
byId("given").addEventListener("input", soon);
byId("given").addEventListener("submit", (event) => event.preventDefault());
byId("add-document").addEventListener("click", () => add().querySelector("input").focus());
byId("files").addEventListener("change", async ({ target }) => {
  await addFiles([...target.files]);
  target.value = "";
});
for (const id of ["runtime", "beside"]) byId(id).addEventListener("change", choose);
byId("panels").addEventListener("again", look);
offer(() => ({ given: given(), runtime: panels[0]?.runtime }));
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(byId("token").value);
  byId("token").value = "";
  started = begin();
});
// A file that is dropped beside its place would take the page away.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  addFiles([...event.dataTransfer.files]);
});

add();
started = begin();
await Promise.all([samples(), started]);
