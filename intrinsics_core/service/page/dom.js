/** Elements from text. Text is always text here, never markup: nothing else on this page makes elements. */

// As in the report: control characters, halves of surrogate pairs, and what makes text read as it is not written.
const UNSHOWABLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

/** The text as it may be shown; its length in code points stays. */
export const shown = (text) => text.replace(UNSHOWABLE, "\ufffd");

/**
 * An element.
 * @param {string} name its tag
 * @param {object} attributes by name; null and false leave one out, true is one without a value
 * @param {...(string|Node|null)} children texts and elements; null is none
 */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    made.setAttribute(attribute, value === true ? "" : shown(String(value)));
  }
  made.append(...children.filter((child) => child !== null)
    .map((child) => (typeof child === "string" ? shown(child) : child)));
  return made;
}

/** Put a text into an element, where it is another than before: what is live is read out at every change. */
export function say(element, words) {
  if (element.textContent !== shown(words)) element.textContent = shown(words);
}

/** The element of the page with that id. */
export const byId = (id) => document.getElementById(id);
