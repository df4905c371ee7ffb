// Elements, numbers and labels.

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

/** `completion (ms)`. */
function axisLabel(axis) {
  return axis.unit ? `${axis.name} (${axis.unit})` : axis.name;
}

/** A number with four significant digits. */
function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return value.toExponential(2);
  if (size >= 1e4) return grouped(value);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.min(decimals, 7));
}

/** A number on an axis, as short as possible. */
function ticked(value) {
  const size = Math.abs(value);
  if (size >= 1e9 || (size < 1e-4 && size > 0)) return value.toExponential();
  return size >= 1e4 ? grouped(value) : String(Number(value.toPrecision(6)));
}

/** A large number with narrow spaces between groups of thousands. */
function grouped(value) {
  return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
}

/** A value with its unit: `110.2 ms`. Counts and shares have none. */
function withUnit(value, axis) {
  const unit = ["number", "share"].includes(axis.unit) ? "" : axis.unit;
  return unit ? `${shown(value)} ${unit}` : shown(value);
}

/** ` [103.6, 114.6]`, or nothing without an interval. */
function interval(low, high) {
  const none = (end) => end === null || end === undefined;
  return none(low) || none(high) ? "" : ` [${shown(low)}, ${shown(high)}]`;
}

const colour = (series) => `var(--s${series.colour})`;

const DASHES = ["", "7 3", "2 3", "10 3 2 3", "1 5", "14 4"];
const dashes = (series) => DASHES[series.dash % DASHES.length];

// Symbols with an area, so that they can be filled.
const SYMBOLS = ["circle", "square", "triangle", "diamond", "cross", "wye", "star"];
const symbol = (series) => SYMBOLS[(series.colour + series.dash) % SYMBOLS.length];

/** The points of a series as objects: x, y, label and further values. */
function pointsOf(series) {
  const count = Math.max(series.x?.length ?? 0, series.labels?.length ?? 0);
  return Array.from({ length: count }, (_, at) => {
    const point = { series, x: series.x?.[at], y: series.y?.[at], label: series.labels?.[at] };
    for (const [name, values] of Object.entries(series.more ?? {})) point[name] = values[at];
    return point;
  });
}

/** Approximate width of a text in the font of figures. */
const textWidth = (text) => text.length * 6.4;

/** Truncated with an ellipsis if it does not fit. */
function clipped(text, width) {
  const most = Math.max(3, Math.floor(width / 6.4));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
