// A bar of phases for each object.

const PHASES = [
  { name: "known, not requested", from: "found", until: "requested", colour: 6 },
  { name: "waiting for the response", from: "requested", until: "begun", colour: 2 },
  { name: "receiving", from: "begun", until: "done", colour: 0 },
  { name: "parsing or executing", from: "done", until: "ready", colour: 1 },
];

shapes.bars = (view, width) => {
  const rows = view.series.flatMap(pointsOf);
  const labels = rows.map((row) => row.label);
  const phases = rows.flatMap((row) => PHASES.map((phase) => ({
    label: row.label, x1: row[phase.from], x2: row[phase.until], fill: `var(--s${phase.colour})`,
  }))).filter((phase) => Number.isFinite(phase.x1 ?? NaN) && Number.isFinite(phase.x2 ?? NaN));
  const longest = d3.max(labels, textWidth) ?? 0;
  const above = longest > width * 0.4;
  const x = scaleOf(view.x, [0, d3.max(rows, (row) => row.x) || 1]);
  const drawing = plot({
    width,
    height: labels.length * (above ? 34 : 22) + 70,
    marginLeft: above ? 14 : longest + 18,
    x,
    y: { type: "band", domain: labels, label: null, axis: above ? null : "left", tickSize: 0, padding: 0.3 },
    marks: [
      ...grids({ x }),
      above ? names(labels, width) : null,
      Plot.barX(phases, {
        x1: "x1", x2: "x2", y: "label", fill: "fill", insetTop: above ? 12 : 0,
      }),
    ],
  });
  const lines = (row) => [
    row.label,
    ...PHASES.filter((phase) => Number.isFinite(row[phase.until] ?? NaN)).map((phase) =>
      `${phase.name}: ${shown(row[phase.from])} to ${withUnit(row[phase.until], view.x)}`),
    `${row.bytes} bytes, requested ${row.requests === 1 ? "once" : `${row.requests} times`}`,
  ];
  return { node: drawing, points: placed(drawing, rows, lines) };
};
