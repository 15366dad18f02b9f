/** The list of documents: each has a name and a text. */

import { byId, el, say } from "./dom.js";

const LARGEST = 8 * 2 ** 20; // bytes: what the service takes by default

const list = () => byId("document-list");

/** The documents that have a text, as the service takes them. One without a name is known by its place. */
export function documents() {
  return [...list().children].map((card) => {
    const name = card.querySelector("input").value.trim();
    const text = card.querySelector("textarea").value;
    return name ? { id: name, text } : { text };
  }).filter(({ text }) => text.trim());
}

/** Add a document at the end of the list. */
export function add(name = "", text = "") {
  const card = el("li", { class: "document" },
    el("input", { type: "text", placeholder: "name", dir: "auto" }),
    el("button", { type: "button", class: "remove" }, "Remove"),
    el("textarea", { rows: 3, dir: "auto" }));
  card.querySelector("input").value = name;
  card.querySelector("textarea").value = text;
  card.querySelector("button").addEventListener("click", () => remove(card));
  list().append(card);
  number();
  return card;
}

/** Put these in place of all documents. */
export function replace(given) {
  list().replaceChildren();
  for (const { id, text } of given) add(id, text);
}

/** Add the texts of files; what is no text is told, and left out. */
export async function addFiles(files) {
  const told = [];
  for (const file of files) {
    try {
      if (file.size > LARGEST) throw new RangeError("it is larger than the service takes");
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      if (text.includes("\0")) throw new TypeError("it is not a text");
      [...list().children].find(isEmpty)?.remove();
      add(file.name, text);
      told.push(`${file.name} was added.`);
    } catch (error) {
      const reason = error instanceof RangeError ? error.message : "it is not a text in UTF-8";
      told.push(`${file.name} was not added: ${reason}.`);
    }
  }
  say(byId("files-told"), told.join(" "));
  list().dispatchEvent(new Event("input", { bubbles: true }));
}

const isEmpty = (card) => [...card.querySelectorAll("input, textarea")].every((field) => !field.value);

function remove(card) {
  const next = card.nextElementSibling ?? card.previousElementSibling;
  card.remove();
  number();
  (next?.querySelector("input") ?? byId("add-document")).focus();
  list().dispatchEvent(new Event("input", { bubbles: true }));
}

function number() {
  [...list().children].forEach((card, i) => {
    card.querySelector("input").setAttribute("aria-label", `Name of document ${i + 1}`);
    card.querySelector("textarea").setAttribute("aria-label", `Text of document ${i + 1}`);
    card.querySelector("button").setAttribute("aria-label", `Remove document ${i + 1}`);
  });
}
