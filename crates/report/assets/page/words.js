// Elements and numbers.

const data = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes and children; text is always text. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** A number with four significant digits. */
function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return value.toExponential(2);
  if (Number.isInteger(value) && size < 1e4) return String(value);
  if (size >= 1e4) return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
  return value.toFixed(Math.min(Math.max(0, 3 - Math.floor(Math.log10(size))), 7));
}

/** The item of the list for which `size` is smallest. */
function least(list, size) {
  return list.reduce((best, one) => (best === undefined || size(one) < size(best) ? one : best), undefined);
}
