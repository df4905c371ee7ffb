// A row for each label: a dot, its interval, and quantiles.

const shapes = {};

const QUANTILES = [
  ["p50", "tick"],
  ["p95", "diamond"],
  ["p99", "triangle"],
];

shapes.dots = (view, width) => {
  const points = view.series.flatMap(pointsOf).sort((a, b) => a.cell - b.cell);
  const labels = [...new Set(points.map((point) => point.label))];
  const longest = d3.max(labels, textWidth) ?? 0;
  const above = longest > width * 0.42;
  const marginLeft = above ? 14 : Math.min(longest, width * 0.42) + 20;
  const values = points.flatMap((p) => [p.x, p.low, p.high, p.p50, p.p95, p.p99]);
  const axis = { ...view.x, constant: constantOf(points.map((point) => point.x)) };
  const row = above ? 38 : Math.max(20, Math.min(30, 640 / labels.length));
  const x = scaleOf(axis, domain(axis, covered(view, "x", values)));
  const dy = above ? 6 : 0;
  const drawing = plot({
    width,
    height: labels.length * row + 70,
    marginLeft,
    x,
    y: { type: "band", domain: labels, label: null, axis: above ? null : "left", tickSize: 0, padding: 0 },
    marks: [
      ...grids({ x }),
      Plot.ruleY(labels, { y: (label) => label, stroke: "var(--line)", strokeDasharray: "1 3", dy }),
      above ? names(labels, width) : null,
      ...placeMarks(view, x),
      Plot.ruleY(points.filter((p) => Number.isFinite(p.low ?? NaN) && Number.isFinite(p.high ?? NaN)), {
        x1: "low", x2: "high", y: "label", stroke: (p) => colour(p.series), strokeWidth: 7,
        strokeOpacity: 0.38, dy,
      }),
      ...quantileMarks(points, dy),
      Plot.dot(points, {
        x: "x", y: "label", r: 4.5, fill: (p) => colour(p.series), stroke: "var(--card)",
        symbol: (p) => symbol({ ...p.series, dash: 0 }), dy,
      }),
    ],
  });
  const lines = (p) => [
    p.label,
    `${view.x.name}: ${withUnit(p.x, view.x)}${interval(p.low, p.high)}`,
    ...(p.p50 === undefined ? [] : [`p50 ${shown(p.p50)}, p95 ${shown(p.p95)}, p99 ${shown(p.p99)}`]),
    `n = ${p.n}${p.failed ? `, ${p.failed} failed` : ""} (cell ${p.cell})`,
  ];
  return { node: drawing, points: placed(drawing, points, lines) };
};

/** Labels above their rows, if there is no room beside them. */
function names(labels, width) {
  return Plot.text(labels, {
    y: (label) => label, text: (label) => clipped(label, width - 30), frameAnchor: "left",
    textAnchor: "start", dy: -9, fill: "var(--ink)", stroke: "var(--card)", strokeWidth: 4,
  });
}

function quantileMarks(points, dy) {
  return QUANTILES.flatMap(([name, how]) => {
    const those = points.filter((point) => Number.isFinite(point[name] ?? NaN));
    if (!those.length) return [];
    const stroke = (point) => colour(point.series);
    return how === "tick"
      ? [Plot.dot(those, { x: name, y: "label", symbol: TICK, r: 5, stroke, strokeWidth: 1.8, dy })]
      : [Plot.dot(those, { x: name, y: "label", symbol: how, r: 3.2, stroke, strokeWidth: 1.4, dy })];
  });
}

/** A vertical stroke as a symbol. */
const TICK = {
  draw(context, size) {
    const half = Math.sqrt(size);
    context.moveTo(0, -half);
    context.lineTo(0, half);
  },
};
