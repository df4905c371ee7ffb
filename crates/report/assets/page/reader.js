// Values under the pointer or by keys: left and right move along a series, up and down to the next.

const REACH = 80;

/** Makes the points of a drawing readable; `stage` contains the drawing and takes the focus. */
function readable(stage, drawing, said) {
  const tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  const ring = element("div", { class: "ring", hidden: "", "aria-hidden": "true" });
  stage.append(ring, tip);
  const points = drawing.points.filter((point) => Number.isFinite(point.px) && Number.isFinite(point.py));
  const lines = linesOf(points);
  let current = null;
  const scale = () => {
    const box = drawing.node.getBoundingClientRect();
    const own = Number(drawing.node.getAttribute("width")) || box.width;
    const from = stage.getBoundingClientRect();
    return { by: box.width / own, left: box.left - from.left, top: box.top - from.top };
  };
  const hide = () => {
    current = null;
    tip.hidden = ring.hidden = true;
  };
  const show = (point, aloud) => {
    if (point === current) return;
    current = point;
    const { by, left, top } = scale();
    const [x, y] = [left + point.px * by, top + point.py * by];
    tip.replaceChildren(...point.lines.map((line, at) => element(at === 0 ? "strong" : "span", {}, line)));
    tip.hidden = ring.hidden = false;
    ring.style.translate = `${x}px ${y}px`;
    const room = stage.clientWidth - tip.offsetWidth;
    const above = y - tip.offsetHeight - 14;
    const place = Math.max(0, Math.min(room, x - tip.offsetWidth / 2));
    tip.style.translate = `${place}px ${above < 0 ? y + 14 : above}px`;
    if (aloud) said.textContent = point.lines.join("; ");
  };
  stage.onpointermove = (event) => {
    const { by, left, top } = scale();
    const from = stage.getBoundingClientRect();
    const [x, y] = [(event.clientX - from.left - left) / by, (event.clientY - from.top - top) / by];
    const nearest = d3.least(points, (point) => (point.px - x) ** 2 + (point.py - y) ** 2);
    const far = nearest && Math.hypot(nearest.px - x, nearest.py - y) > REACH;
    if (!nearest || far) hide();
    else show(nearest, false);
  };
  stage.onpointerleave = hide;
  stage.onblur = hide;
  stage.onkeydown = (event) => {
    const next = step(lines, current, event.key);
    if (event.key === "Escape") hide();
    if (!next) return;
    event.preventDefault();
    show(next, true);
  };
}

/** The points of each series; if each has only one, they form one row from left to right. */
function linesOf(points) {
  const lines = [...d3.group(points, (point) => point.series).values()];
  const alone = lines.every((line) => line.length === 1);
  return alone && lines.length ? [d3.sort(points, (point) => point.px)] : lines;
}

/** The point that a key moves to, if any. */
function step(lines, current, key) {
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const move = moves[key];
  if (!move || !lines.length) return null;
  if (!current) return lines[0][0];
  const line = lines.findIndex((points) => points.includes(current));
  const [across, along] = move;
  if (along) {
    const at = lines[line].indexOf(current) + along;
    return lines[line][Math.max(0, Math.min(lines[line].length - 1, at))];
  }
  const other = lines[(line + across + lines.length) % lines.length];
  return d3.least(other, (point) => Math.abs(point.px - current.px));
}
