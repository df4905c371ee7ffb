// Points with intervals in both directions, and a line through the Pareto front.

shapes.scatter = (view, width) => {
  const points = view.series.flatMap(pointsOf);
  const [axis] = view.y;
  const front = points.filter((point) => point.front === 1).sort((a, b) => a.x - b.x);
  const xs = covered(view, "x", points.flatMap((p) => [p.x, p.xlow, p.xhigh]));
  const ys = covered(view, "y", points.flatMap((p) => [p.y, p.low, p.high]));
  const x = scaleOf(view.x, domain(view.x, xs));
  const y = scaleOf(axis, domain(axis, ys));
  const drawing = plot({
    width,
    height: Math.max(280, Math.min(430, width * 0.62)),
    marginLeft: 62,
    x,
    y,
    marks: [
      ...grids({ x, y }),
      ...placeMarks(view, x),
      Plot.line(front, { x: "x", y: "y", stroke: "var(--quiet)", strokeWidth: 1.4, curve: "linear" }),
      ...[["xlow", "xhigh", "y", Plot.ruleY], ["low", "high", "x", Plot.ruleX]].map(
        ([low, high, at, rule]) => rule(
          points.filter((p) => Number.isFinite(p[low] ?? NaN)),
          at === "y"
            ? { x1: low, x2: high, y: "y", stroke: (p) => colour(p.series), strokeOpacity: 0.6 }
            : { y1: low, y2: high, x: "x", stroke: (p) => colour(p.series), strokeOpacity: 0.6 },
        ),
      ),
      Plot.dot(points, {
        x: "x", y: "y", r: (p) => (p.front === 1 ? 6 : 4), symbol: (p) => symbol(p.series),
        fill: (p) => colour(p.series), stroke: "var(--card)",
      }),
    ],
    r: { type: "identity" },
  });
  const lines = (p) => [
    p.series.name + (p.front === 1 ? " (on the front)" : ""),
    `${axis.name}: ${withUnit(p.y, axis)}${interval(p.low, p.high)}`,
    `${view.x.name}: ${withUnit(p.x, view.x)}${interval(p.xlow, p.xhigh)}`,
    `n = ${p.n} (cell ${p.cell})`,
  ];
  return { node: drawing, points: placed(drawing, points, lines) };
};
