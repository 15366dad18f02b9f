/** Requests to the service. A token, where it asks for one, is kept here and nowhere else. */

let token = "";

/** Bring this token with every request. */
export const useToken = (given) => { token = given; };

/** Whether a token was given. */
export const hasToken = () => token !== "";

/** An error as the service tells it (RFC 9457): its title is the type of the error in the library. */
export class Problem extends Error {
  constructor({ title = "", detail = "", status = 0 }) {
    super(detail);
    Object.assign(this, { title, detail, status });
  }
}

/**
 * The response to a request.
 * @param {string} path as "v1/models"
 * @param {object} [body] what is sent as JSON; without it the request is a GET
 * @param {AbortSignal} [signal]
 * @throws {Problem} the service refused, failed, or does not answer
 */
export async function ask(path, body, signal) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, { ...sent, headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "unreachable" });
  }
  if (response.ok) return response;
  throw new Problem(await response.json().catch(() => ({ status: response.status, detail: response.statusText })));
}

/** The result of an intrinsic on a row. */
export async function judge(intrinsic, row, signal) {
  return (await (await ask(`v1/intrinsics/${intrinsic}`, row, signal)).json()).result;
}

/** The names of the service's runtimes, the default first. Names with a slash are models within one. */
export async function runtimes() {
  const { data } = await (await ask("v1/models")).json();
  return data.map(({ id }) => id).filter((id) => !id.includes("/"));
}
