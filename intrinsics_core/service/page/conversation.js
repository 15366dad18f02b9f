/** What was pasted, read as messages. */

const SPEAKER = /^\s*(system|user|human|you|assistant|ai|bot)\s*:\s*/i;
const ROLES = {
  system: "system", user: "user", human: "user", you: "user", assistant: "assistant", ai: "assistant", bot: "assistant",
};

/**
 * The messages of a text: a JSON list of them, lines that name who speaks, or one question.
 * @returns {{role: string, content: string}[]}
 */
export function messagesOf(text) {
  if (!text.trim()) return [];
  return ofJson(text) ?? ofLines(text) ?? [{ role: "user", content: text }];
}

function ofJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const turns = Array.isArray(value) ? value : value?.messages;
  if (!Array.isArray(turns) || !turns.length) return null;
  const messages = turns.map((turn) => ({ role: turn?.role, content: contentOf(turn?.content) }));
  return messages.every(({ role, content }) => typeof role === "string" && content !== null) ? messages : null;
}

/** The text of a message; of OpenAI's content parts, the texts joined. */
function contentOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

function ofLines(text) {
  if (!SPEAKER.test(text)) return null;
  const messages = [];
  for (const line of text.trim().split("\n")) {
    const speaker = SPEAKER.exec(line);
    if (speaker) messages.push({ role: ROLES[speaker[1].toLowerCase()], content: line.slice(speaker[0].length) });
    else messages.at(-1).content += `\n${line}`;
  }
  return messages.map(({ role, content }) => ({ role, content: content.trim() })).filter(({ content }) => content);
}

/**
 * What is to be judged. An answer that stands at the end of the conversation counts where none is given apart.
 * @returns {{messages: object[], answer: string, documents: object[]}} messages without the answer
 */
export function givenOf(text, answer, documents) {
  const messages = messagesOf(text);
  if (!answer.trim() && messages.at(-1)?.role === "assistant") {
    return { messages: messages.slice(0, -1), answer: messages.at(-1).content, documents };
  }
  return { messages, answer: answer.trim() ? answer : "", documents };
}

/** The turns up to the last question. */
export function questionOf(messages) {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1);
}
