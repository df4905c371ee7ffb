// Lines and places on a map; both axes have the same scale.

const MAP_HEIGHT = [170, 520];

shapes.map = (view, width) => {
  const [axis] = view.y;
  const points = view.series.flatMap(pointsOf);
  const lines = view.series.filter((series) => !series.labels);
  const places = points.filter((point) => point.label !== undefined);
  const margins = { marginLeft: 62, marginRight: 18, marginTop: 22, marginBottom: 42 };
  const inner = width - margins.marginLeft - margins.marginRight;
  const [left, right] = padded(d3.extent(points, (point) => point.x));
  const [low, high] = padded(d3.extent(points, (point) => point.y));
  const around = margins.marginTop + margins.marginBottom;
  const perPixel = Math.max((right - left) / inner, (high - low) / (MAP_HEIGHT[1] - around));
  const height = Math.max(MAP_HEIGHT[0], (high - low) / perPixel + around);
  const centred = (from, until, pixels) => {
    const room = (pixels * perPixel - (until - from)) / 2;
    return [from - room, until + room];
  };
  const x = scaleOf(view.x, centred(left, right, inner));
  const y = scaleOf(axis, centred(low, high, height - around));
  const drawing = plot({
    width,
    height,
    ...margins,
    x,
    y,
    marks: [
      ...grids({ x, y }),
      ...lines.map((series) => Plot.line(pointsOf(series), {
        x: "x", y: "y", stroke: colour(series), strokeWidth: 2, strokeDasharray: dashes(series),
      })),
      Plot.dot(places, {
        x: "x", y: "y", r: 4.5, symbol: (p) => symbol(p.series), fill: (p) => colour(p.series),
        stroke: "var(--card)",
      }),
    ],
  });
  const told = (p) => [
    p.label ?? p.series.name,
    ...(p.label ? [p.series.name] : []),
    `${withUnit(p.x, view.x)} horizontally, ${withUnit(p.y, axis)} vertically`,
  ];
  return { node: drawing, points: placed(drawing, points, told) };
};

/** With 5 % of room at both ends. */
function padded([low, high]) {
  const room = (high - low) * 0.05 || 1;
  return [low - room, high + room];
}
