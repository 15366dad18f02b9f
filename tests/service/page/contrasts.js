// Every piece of text that can be seen, with the contrast of its colour to what lies behind it: WCAG 2.2, 1.4.3.
() => {
  const read = text => {
    const [r, g, b, a = 1] = text.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    return text.startsWith("color(") ? [r, g, b, a] : [r / 255, g / 255, b / 255, a];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((one, i) => one * a + under[i] * (1 - a));
  const behind = element => {
    let colour = matchMedia("(prefers-color-scheme: dark)").matches ? [0.07, 0.07, 0.07] : [1, 1, 1];
    const all = [];
    for (let one = element; one; one = one.parentElement) all.unshift(one);
    for (const one of all) colour = over(read(getComputedStyle(one).backgroundColor), colour);
    return colour;
  };
  const light = colour => {
    const [r, g, b] = colour.map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = (element, words, colour) => {
    const style = getComputedStyle(element), back = behind(element);
    let clear = 1;
    for (let one = element; one; one = one.parentElement) clear *= Number(getComputedStyle(one).opacity);
    const [r, g, b, a] = read(colour), fore = over([r, g, b, a * clear], back);
    const [high, low] = [light(fore), light(back)].sort((one, other) => other - one);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const of = element.className || element.tagName;
    found.push({words: words.slice(0, 60), ratio: (high + 0.05) / (low + 0.05), least: large ? 3 : 4.5, of});
  };
  for (let node; node = texts.nextNode();) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest(".unseen, .skip, option, noscript")) continue;
    told(element, node.data.trim(), getComputedStyle(element).color);
  }
  for (const field of document.querySelectorAll("textarea, input:not([type=file]), select")) {
    if (!field.checkVisibility()) continue;
    told(field, field.value || "-", getComputedStyle(field).color);
    if (field.placeholder) told(field, field.placeholder, getComputedStyle(field, "::placeholder").color);
  }
  return found;
}
