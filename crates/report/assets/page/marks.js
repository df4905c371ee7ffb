// Elements shared by several shapes.

/** A plot with the page's fonts and colours; colours are passed unchanged. */
function plot(options) {
  return Plot.plot({
    color: { type: "identity" },
    symbol: { type: "identity" },
    marginTop: 22,
    marginBottom: 42,
    marginRight: 18,
    ...options,
    style: { background: "transparent", color: "var(--ink)", fontSize: "12px", overflow: "visible" },
  });
}

/** Plot's options for an axis over this domain. */
function scaleOf(axis, range, more = {}) {
  const own = { label: axisLabel(axis), type: axis.scale, domain: range, nice: false };
  if (axis.scale === "log") return { ...own, ticks: decades(range), tickFormat: ticked, ...more };
  if (axis.scale === "symlog") {
    const ticks = bothWays(range, axis.constant);
    return { ...own, constant: axis.constant, ticks, tickFormat: ticked, ...more };
  }
  return { ...own, tickFormat: ticked, ...more };
}

/** Ticks of a logarithmic axis: powers of ten, with 2 and 5 in between if there is room. */
function decades([low, high]) {
  const powers = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1);
  const steps = powers.length > 5 ? [1] : [1, 2, 5];
  const all = powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)));
  return all.filter((value) => value >= low && value <= high);
}

/** Ticks of an axis that is logarithmic on both sides of zero. */
function bothWays([low, high], constant) {
  const most = Math.max(Math.abs(low), Math.abs(high));
  const powers = d3.range(Math.ceil(Math.log10(constant)), Math.ceil(Math.log10(most)) + 1);
  const every = Math.ceil(powers.length / 4);
  const sizes = powers.filter((_, at) => at % every === 0).map((power) => Number(`1e${power}`));
  return [0, ...sizes, ...sizes.map((size) => -size)].filter((value) => value >= low && value <= high);
}

/** Grid lines at the ticks. */
function grids(scales) {
  const style = { stroke: "var(--line)", strokeOpacity: 1 };
  return [
    scales.x ? Plot.gridX({ ...style, ticks: scales.x.ticks }) : null,
    scales.y ? Plot.gridY({ ...style, ticks: scales.y.ticks }) : null,
  ];
}

/** Deadlines and other named positions. */
function placeMarks(view, x) {
  return view.marks?.flatMap((mark) => {
    const along = mark.axis;
    const isRight = along === "x" && isLate(x, mark.from);
    const line = { stroke: "var(--ink)", strokeDasharray: "5 4", strokeWidth: 1.25 };
    const text = { text: [mark.label], fill: "var(--ink)", stroke: "var(--card)", strokeWidth: 4 };
    return along === "x"
      ? [
          Plot.ruleX([mark.from], line),
          Plot.text([mark.from], {
            ...text, x: [mark.from], frameAnchor: "top", dy: -14,
            textAnchor: isRight ? "end" : "start", dx: isRight ? -4 : 4,
          }),
        ]
      : [
          Plot.ruleY([mark.from], line),
          Plot.text([mark.from], {
            ...text, y: [mark.from], frameAnchor: "right", textAnchor: "end", dy: -8,
          }),
        ];
  }) ?? [];
}

/** Whether a value is so far to the right that its label fits only to its left. */
function isLate({ type, domain: [low, high] }, value) {
  const size = type === "log" ? Math.log10 : (number) => number;
  return (size(value) - size(low)) / (size(high) - size(low)) > 0.7;
}

/** The values that a scale must cover, including limits. */
function covered(view, along, values) {
  const marks = (view.marks ?? []).filter((mark) => mark.axis === along);
  const all = [...values, ...marks.map((mark) => mark.from)].filter(Number.isFinite);
  return all.length ? d3.extent(all) : [0, 1];
}

/** Where a symmetric logarithmic axis becomes logarithmic: at the smallest difference. */
function constantOf(values) {
  return d3.min(values.filter(Number.isFinite).map(Math.abs).filter((size) => size > 0)) ?? 1;
}

/** A domain with a little room at both ends; it starts at zero if that costs little. */
function domain(axis, [low, high]) {
  if (axis.scale === "log") return [low / 1.08, high * 1.08];
  if (axis.scale === "symlog") return [low < 0 ? low * 1.5 : 0, high > 0 ? high * 1.5 : 0];
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high * 1.1)];
  if (low >= 0 && low < 0.35 * high) return [0, high * 1.03];
  const room = (high - low) * 0.04;
  return [low - room, high + room];
}

/** The positions of a drawing's points, for the pointer and the keyboard. */
function placed(drawing, points, lines) {
  const x = drawing.scale("x");
  const y = drawing.scale("y");
  const at = (scale, value) => scale.apply(value) + (scale.bandwidth ?? 0) / 2;
  return points.map((point) => ({
    series: point.series,
    px: at(x, point.x),
    py: at(y, point.label !== undefined && y.type === "band" ? point.label : point.y),
    lines: lines(point),
  }));
}

/** Ticks at the values that were run, if their labels have room. */
function ticksAt(values, axis, width) {
  const all = [...new Set(values)].filter(Number.isFinite).sort(d3.ascending);
  if (all.length > 10 || all.length < 2 || axis.scale === "log") return {};
  const span = all[all.length - 1] - all[0];
  const close = all.some((value, at) => at > 0 && ((value - all[at - 1]) / span) * width < 26);
  return close ? {} : { ticks: all, tickFormat: ticked };
}
