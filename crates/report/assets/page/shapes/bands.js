// Lines through measured points, with interval bands.

shapes.bands = (view, width) => {
  const height = Math.max(260, Math.min(400, width * 0.6));
  const points = view.series.flatMap(pointsOf);
  const [axis] = view.y;
  const values = points.flatMap((point) => [point.y, point.low, point.high]);
  const across = points.map((point) => point.x);
  const x = scaleOf(view.x, d3.extent(across), {
    insetLeft: 10, insetRight: 10, ...ticksAt(across, view.x, width - 90),
  });
  const y = scaleOf(axis, domain(axis, covered(view, "y", values)));
  const drawing = plot({
    width,
    height,
    marginLeft: 62,
    x,
    y,
    marks: [
      ...grids({ y }),
      ...placeMarks(view, x),
      ...view.series.flatMap((series) => band(series)),
    ],
  });
  const lines = (p) => [
    p.series.name,
    `${axis.name}: ${withUnit(p.y, axis)}${interval(p.low, p.high)}`,
    `at ${view.x.name} ${withUnit(p.x, view.x)}, n = ${p.n}`,
  ];
  return { node: drawing, points: placed(drawing, points, lines) };
};

function band(series) {
  const points = pointsOf(series);
  const stroke = colour(series);
  const bounded = points.filter((p) => Number.isFinite(p.low ?? NaN) && Number.isFinite(p.high ?? NaN));
  return [
    bounded.length > 1
      ? Plot.areaY(bounded, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.16 })
      : null,
    Plot.line(points, { x: "x", y: "y", stroke, strokeWidth: 2, strokeDasharray: dashes(series) }),
    Plot.dot(points, {
      x: "x", y: "y", symbol: symbol(series), r: 3.6, fill: stroke, stroke: "var(--card)",
    }),
  ];
}
