// Values under the pointer or by keys: left and right move along a series, up and down to the next.

const REACH = 80;

/** The drawing of the stage that fits its width; style sheets hide the others. */
function drawn(stage) {
  const all = [...stage.querySelectorAll("svg")];
  return all.find((svg) => svg.getBoundingClientRect().width > 0) ?? all[0];
}

/** The series of a view, their points at their places in this drawing. */
function placed(view, svg) {
  const axes = svg.dataset.axes.split(";").map((axis) => axis.split(" ").map(Number));
  const place = ([low, high, from, to, isLog], value) => {
    const size = isLog ? Math.log : (number) => number;
    const within = Math.min(Math.max(value, low), high);
    return from + (to - from) * ((size(within) - size(low)) / (size(high) - size(low)));
  };
  return view.plot.series.map(([panel, name, points]) => points.map(([x, y, ...more]) => ({
    px: place(axes[2 * panel], x),
    py: place(axes[2 * panel + 1], y),
    lines: () => lines(view, panel, name, [x, y, ...more]),
  })));
}

/** A point in words: `rtt (ms): 4 [3.6, 4.8]`. Rows have no values across. */
function lines(view, panel, name, [x, y, ...more]) {
  const [across, upwards] = view.plot.axes[panel];
  const at = (column) => more[view.plot.columns.indexOf(column)] ?? null;
  const interval = (low, high) =>
    at(low) === null || at(high) === null ? "" : ` [${shown(at(low))}, ${shown(at(high))}]`;
  const rest = view.plot.columns.filter((column) => !/(^| )(low|high)$/.test(column) && at(column) !== null);
  const told = upwards
    ? [`${upwards}: ${shown(y)}${interval("low", "high")}`, `${across}: ${shown(x)}${interval("x low", "x high")}`]
    : [`${across}: ${shown(x)}${interval("low", "high")}`];
  return [name, ...told, ...(rest.length ? [rest.map((column) => `${column} = ${shown(at(column))}`).join(", ")] : [])];
}

/** Makes the points of a view readable; `stage` contains its drawings and takes the focus. */
function readable(stage, view, said) {
  const tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  const ring = element("div", { class: "ring", hidden: "", "aria-hidden": "true" });
  stage.append(ring, tip);
  let [current, known, series] = [null, null, []];
  const look = () => {
    const svg = drawn(stage);
    if (svg !== known) [current, known, series] = [null, svg, rowsOf(placed(view, svg))];
    const [box, from] = [svg.getBoundingClientRect(), stage.getBoundingClientRect()];
    return { by: box.width / svg.viewBox.baseVal.width, left: box.left - from.left, top: box.top - from.top, from };
  };
  const hide = () => {
    current = null;
    tip.hidden = ring.hidden = true;
  };
  const show = (point, aloud) => {
    if (point === current) return;
    current = point;
    const { by, left, top } = look();
    const [x, y] = [left + point.px * by, top + point.py * by];
    const texts = point.lines();
    tip.replaceChildren(...texts.map((line, at) => element(at === 0 ? "strong" : "span", {}, line)));
    tip.hidden = ring.hidden = false;
    ring.style.translate = `${x}px ${y}px`;
    const room = stage.clientWidth - tip.offsetWidth;
    const above = y - tip.offsetHeight - 14;
    const place = Math.max(0, Math.min(room, x - tip.offsetWidth / 2));
    tip.style.translate = `${place}px ${above < 0 ? y + 14 : above}px`;
    if (aloud) said.textContent = texts.join("; ");
  };
  stage.onpointermove = (event) => {
    const { by, left, top, from } = look();
    const [x, y] = [(event.clientX - from.left - left) / by, (event.clientY - from.top - top) / by];
    const far = (point) => Math.hypot(point.px - x, point.py - y);
    const nearest = least(series.flat(), far);
    if (!nearest || far(nearest) > REACH) hide();
    else show(nearest, false);
  };
  stage.onpointerleave = hide;
  stage.onblur = hide;
  stage.onkeydown = (event) => {
    look();
    const next = step(series, current, event.key);
    if (event.key === "Escape") hide();
    if (!next) return;
    event.preventDefault();
    show(next, true);
  };
}

/** If each series has only one point, they form one row, read from top to bottom. */
function rowsOf(series) {
  return series.every((points) => points.length === 1) ? [series.flat()].filter((row) => row.length) : series;
}

/** The point that a key moves to, if any. */
function step(series, current, key) {
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const move = moves[key];
  if (!move || !series.length) return null;
  if (!current) return series[0][0];
  const line = series.findIndex((points) => points.includes(current));
  const [across, along] = series.length > 1 ? move : [0, move[0] + move[1]];
  if (along) {
    const at = series[line].indexOf(current) + along;
    return series[line][Math.max(0, Math.min(series[line].length - 1, at))];
  }
  const other = series[(line + across + series.length) % series.length];
  return least(other, (point) => Math.abs(point.px - current.px));
}
