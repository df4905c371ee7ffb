// Distribution functions: steps from 0 to 100 %.

shapes.steps = (view, width) => {
  const height = Math.max(260, Math.min(400, width * 0.6));
  const points = view.series.flatMap(pointsOf);
  const range = covered(view, "x", points.map((point) => point.x));
  const x = scaleOf(view.x, domain(view.x, range));
  const y = scaleOf(view.y[0], [0, 100]);
  const drawing = plot({
    width,
    height,
    marginLeft: 48,
    x,
    y,
    marks: [
      ...grids({ x, y }),
      ...placeMarks(view, x),
      ...view.series.map((series) => {
        const steps = pointsOf(series);
        return Plot.line([{ x: steps[0].x, y: 0 }, ...steps], {
          x: "x", y: "y", curve: "step-after", stroke: colour(series), strokeWidth: 1.9,
          strokeDasharray: dashes(series),
        });
      }),
    ],
  });
  const lines = (p) => [
    p.series.name,
    `${shown(p.y)} % of samples up to ${withUnit(p.x, view.x)}`,
    view.x.name,
  ];
  return { node: drawing, points: placed(drawing, points, lines) };
};
