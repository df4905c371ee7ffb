// Panels stacked along one axis; events are drawn across all of them.

const PANEL_HEIGHT = 150;
const LABELS_MAX = 14;

shapes.panels = (view, width) => {
  const all = view.series.flatMap(pointsOf);
  const range = covered(view, "x", all.map((point) => point.x));
  const outer = d3.create("svg:svg").node();
  const points = [];
  let top = 0;
  view.y.forEach((axis, number) => {
    const isLast = number === view.y.length - 1;
    const height = PANEL_HEIGHT + (isLast ? 34 : 0) + (number === 0 ? 10 : 0);
    const series = view.series.filter((one) => (one.panel ?? 0) === number);
    const drawing = panel(view, { axis, series, range, width, height, isLast, isFirst: number === 0 });
    drawing.setAttribute("y", top);
    outer.append(drawing);
    const lines = (p) => [
      p.series.name,
      `${axis.name}: ${withUnit(p.y, axis)}`,
      `at ${view.x.name} ${withUnit(p.x, view.x)}`,
    ];
    const those = series.flatMap(pointsOf).filter((p) => Number.isFinite(p.y ?? NaN));
    points.push(...placed(drawing, those, lines).map((p) => ({ ...p, py: p.py + top })));
    top += height;
  });
  outer.setAttribute("width", width);
  outer.setAttribute("height", top);
  outer.setAttribute("viewBox", `0 0 ${width} ${top}`);
  return { node: outer, points };
};

function panel(view, { axis, series, range, width, height, isLast, isFirst }) {
  const values = series.flatMap((one) => one.y ?? []);
  const x = scaleOf(view.x, range, { axis: isLast ? "bottom" : null });
  const y = scaleOf(axis, domain(axis, covered(view, "y", values)), { ticks: 4 });
  return plot({
    width,
    height,
    marginLeft: 62,
    marginTop: isFirst ? 34 : 24,
    marginBottom: isLast ? 42 : 8,
    x,
    y,
    marks: [
      ...grids({ x, y }),
      ...happenings(view, isFirst),
      ...series.map((one) => Plot.line(pointsOf(one), {
        x: "x", y: "y", stroke: colour(one), strokeWidth: 1.6, strokeDasharray: dashes(one),
      })),
    ],
  });
}

/** Spans are shaded, moments are lines; names are above the first panel if there is room. */
function happenings(view, isFirst) {
  const marks = (view.marks ?? []).filter((mark) => mark.axis === "x");
  const spans = marks.filter((mark) => Number.isFinite(mark.until ?? NaN));
  return [
    Plot.rectX(spans, {
      x1: "from", x2: "until", fill: "var(--quiet)", fillOpacity: 0.22,
    }),
    Plot.ruleX(marks, { x: "from", stroke: "var(--quiet)", strokeDasharray: "3 3" }),
    isFirst && marks.length <= LABELS_MAX
      ? Plot.text(marks, {
          x: "from", text: "label", frameAnchor: "top", dy: -10, dx: 2, textAnchor: "start",
          fill: "var(--quiet)",
        })
      : null,
  ];
}
