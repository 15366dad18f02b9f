/** The page: what is written in it is judged, by one runtime or by two side by side. */

import { givenOf, messagesOf } from "./conversation.js";
import { add, addFiles, documents, replace } from "./documents.js";
import { byId, el, say } from "./dom.js";
import { Panel } from "./panel.js";
import { Problem, ask, hasToken, runtimes, useToken } from "./service.js";
import { SNIPPETS } from "./snippets.js";
import { differences, trouble } from "./words.js";

const PAUSE = 250; // milliseconds without a key until the service is asked

let panels = [];
let timer;

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
  const found = await Promise.all(panels.map((panel) => panel.update(all)));
  if (found.includes(null)) return; // something newer is being asked
  if (found.some(({ error }) => error?.status === 401)) askForToken();
  say(byId("summary"), found.map(({ summary }, i) => (panels.length > 1 && summary ? `${panels[i].runtime}: ${summary}` : summary)).join(" "));
  compare(found);
  busy(false);
}

/** What stands there is of the text before, until the service has answered. */
function busy(whether) {
  byId("results").setAttribute("aria-busy", String(whether));
}

/** How a conversation was read; nothing where it is one question. */
function readAs() {
  const messages = messagesOf(byId("conversation").value);
  const roles = messages.map(({ role }) => role);
  return roles.length > 1 || (roles.length && roles[0] !== "user") ? `Read as ${roles.length} turns: ${roles.join(", ")}.` : "";
}

function compare([one, other]) {
  const both = one?.audit && other?.audit;
  byId("differences").hidden = !both;
  if (!both) return;
  const found = differences(one.audit, other.audit, panels.map(({ runtime }) => runtime));
  byId("differences").replaceChildren(el("h3", {}, "Where they differ"), found.length
    ? el("ul", {}, ...found.map((words) => el("li", { dir: "auto" }, words)))
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
  byId("runtime").replaceChildren(...names.map((name) => el("option", { value: name }, name)));
  byId("beside").replaceChildren(el("option", { value: "" }, "nobody"), ...names.map((name) => el("option", { value: name }, name)));
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

// --- what to take away -----------------------------------------------------------------------------------------------

let chosen = null;

function showCode() {
  byId("code").hidden = !chosen;
  if (!chosen) return;
  const service = { runtime: panels[0]?.runtime, url: new URL(".", location.href).href, token: hasToken() };
  byId("code").textContent = SNIPPETS[chosen](given(), service);
}

async function copy(name) {
  chosen = name;
  for (const button of byId("copy-as").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.textContent === name));
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
  const { messages, answer, documents: texts } = given();
  const turns = answer ? [...messages, { role: "assistant", content: answer }] : messages;
  try {
    const response = await ask("v1/report", { messages: turns, documents: texts, runtime: panels[0].runtime });
    const url = URL.createObjectURL(await response.blob());
    el("a", { href: url, download: "report.html" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    say(byId("take-told"), "The report is being downloaded.");
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    say(byId("take-told"), trouble(problem).join(" "));
  }
}

// --- samples ---------------------------------------------------------------------------------------------------------

async function samples() {
  const all = await (await ask("page/samples.json")).json();
  byId("samples").append(...all.map((sample) => {
    const button = el("button", { type: "button", title: sample.shows }, sample.name);
    button.addEventListener("click", () => load(sample));
    return button;
  }));
}

function load(sample) {
  byId("conversation").value = sample.conversation;
  byId("answer").value = sample.answer;
  replace(sample.documents);
  look();
}

// --- the page --------------------------------------------------------------------------------------------------------

byId("given").addEventListener("input", soon);
byId("given").addEventListener("submit", (event) => event.preventDefault());
byId("add-document").addEventListener("click", () => add().querySelector("input").focus());
byId("files").addEventListener("change", async ({ target }) => {
  await addFiles([...target.files]);
  target.value = "";
});
for (const id of ["runtime", "beside"]) byId(id).addEventListener("change", choose);
byId("panels").addEventListener("again", look);
byId("report").addEventListener("click", download);
byId("copy-as").append(...Object.keys(SNIPPETS).map((name) => {
  const button = el("button", { type: "button", "aria-pressed": "false" }, name);
  button.addEventListener("click", () => copy(name));
  return button;
}));
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(byId("token").value);
  byId("token").value = "";
  begin();
});
// A file that is dropped beside its place would take the page away.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  addFiles([...event.dataTransfer.files]);
});

add();
await Promise.all([samples(), begin()]);
