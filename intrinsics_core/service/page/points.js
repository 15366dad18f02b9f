/**
 * Places in a text as the service counts them: by code points, as Python does. A JavaScript string counts UTF-16 units,
 * of which "🙂" has two.
 */

/**
 * A text in pieces, cut wherever one of the ranges begins or ends.
 * @param {string} text
 * @param {{begin: number, end: number}[]} ranges in code points
 * @returns {{text: string, begin: number, ranges: object[]}[]} pieces, each with the ranges that it lies in; joined,
 *   they are the text
 */
export function cut(text, ranges) {
  const points = Array.from(text);
  const within = (place) => Math.min(Math.max(place, 0), points.length);
  const edges = new Set([0, points.length, ...ranges.flatMap(({ begin, end }) => [within(begin), within(end)])]);
  const places = [...edges].sort((one, other) => one - other);
  return places.slice(1).map((end, i) => ({
    text: points.slice(places[i], end).join(""),
    begin: places[i],
    ranges: ranges.filter((range) => range.begin <= places[i] && end <= range.end),
  }));
}
