/** What verdicts mean, in words. */

const MEANING = {
  faithful: "The documents support this sentence.",
  partial: "The documents support this sentence only in part.",
  unfaithful: "The documents do not support this sentence.",
  NA: "This sentence makes no claim that documents could support.",
  "no verdict": "The judge gave no verdict on this sentence: nothing is known of it.",
  answerable: "The documents hold an answer to the question.",
  unanswerable: "The documents do not hold an answer to the question.",
};

/** The label of a sentence. One that was left out has none: its "NA" says nothing about it. */
export const labelOf = (sentence) => (sentence.judged === false ? "no verdict" : sentence.label);

/**
 * An audit with "no verdict" for the sentences that were not judged: one that failed, or had no documents, calls them
 * all "NA" and says why.
 */
export function honest(audit) {
  const silent = audit.degraded || audit.reason;
  const sentences = audit.sentences.map((sentence) =>
    (silent && sentence.label === "NA" && !sentence.explanation ? { ...sentence, judged: false } : sentence));
  return { ...audit, sentences };
}

/** What a label means. */
export const meaning = (label) => MEANING[label] ?? "";

/** A sentence that begins with a capital and ends with a full stop. */
export function whole(words) {
  const stop = !words || /[.!?]["”']?$/.test(words) ? "" : ".";
  return words.slice(0, 1).toUpperCase() + words.slice(1) + stop;
}

/** Why a sentence has its verdict: a list of sentences. */
export function why(sentence) {
  const found = [meaning(labelOf(sentence))];
  if (sentence.explanation) found.push(whole(sentence.explanation));
  if (sentence.unsure) found.push("The judge is unsure: the score lies where it is often wrong.");
  return found;
}

/** What is odd about a result: a list of [sentence, tone]. */
export function oddities(result) {
  const { degraded, reason, missing, dropped, cut, unread, read, unsure } = result;
  return [
    degraded && [`Degraded: ${whole(degraded)}`, "bad"],
    reason && [whole(reason), "na"],
    missing && [`${count(missing, "entry has", "entries have")} no verdict.`, "bad"],
    unsure && ["The judge is unsure: the score lies where it is often wrong.", "warn"],
    dropped && [`${count(dropped, "entry", "entries")} of the judge's reply could not be used.`, "warn"],
    cut && [`${count(cut, "text was", "texts were")} read in part alone.`, "warn"],
    unread && [`${count(unread, "token", "tokens")} of the documents were not read.`, "warn"],
    read !== undefined && read < 1 && [`${Math.round(100 * read)}% of the documents' text was read.`, "warn"],
  ].filter(Boolean);
}

const count = (number, one, several) => `${number} ${number === 1 ? one : several}`;

/** An audit in one or two sentences. It says that all is well only where every sentence was judged. */
export function summary(audit) {
  const labels = audit.sentences.map(labelOf);
  const claims = labels.filter((label) => label !== "NA");
  const flagged = labels.filter((label) => label === "partial" || label === "unfaithful").length;
  const unknown = labels.filter((label) => label === "no verdict").length;
  const judged = claims.length - unknown;
  if (unknown === labels.length && audit.degraded) return "No verdict: the judge failed.";
  if (unknown === labels.length && audit.reason) return `No verdict: ${whole(audit.reason)}`;
  if (!claims.length) return "No sentence makes a claim that documents could support.";
  const found = [];
  const are = flagged === 1 ? "is" : "are";
  if (flagged) found.push(`${flagged} of ${count(judged, "claim", "claims")} ${are} not fully supported.`);
  if (unknown) found.push(`${count(unknown, "sentence has", "sentences have")} no verdict.`);
  if (!found.length) found.push(judged === 1 ? "The one claim is supported." : "All claims are supported.");
  if (audit.degraded) found.push("The verdict is degraded.");
  return found.join(" ");
}

const PROBLEMS = {
  ContextTooLong: "The texts are too long for the judge.",
  InvalidInput: "The service cannot use this.",
  MalformedReply: "The judge's reply could not be read.",
  NotFound: "The service has no such request.",
  RequestTimeout: "The judge did not answer in time.",
  RuntimeUnavailable: "The judge cannot be reached, or is busy.",
  Unauthorized: "The service asks for a token.",
  UnsupportedIntrinsic: "This judge cannot judge this.",
  unreachable: "The service does not answer. Does it still run?",
};

/** What went wrong: [what it means, what the service said of it]. */
export function trouble(problem) {
  return [PROBLEMS[problem.title] ?? "The service could not do this.", whole(problem.detail)];
}

/** What two audits of the same answer say differently: a list of sentences. */
export function differences(one, other, names) {
  const said = (what, first, second) => `${what}: ${first} by ${names[0]}, ${second} by ${names[1]}.`;
  const found = [];
  if (one.answerability && other.answerability && one.answerability.label !== other.answerability.label) {
    found.push(said("The question is", one.answerability.label, other.answerability.label));
  }
  const theirs = new Map(other.sentences.map((sentence) => [`${sentence.begin}-${sentence.end}`, sentence]));
  for (const sentence of one.sentences) {
    const same = theirs.get(`${sentence.begin}-${sentence.end}`);
    if (same && labelOf(same) !== labelOf(sentence)) {
      found.push(said(`“${sentence.text}”`, labelOf(sentence), labelOf(same)));
    }
  }
  return found;
}
