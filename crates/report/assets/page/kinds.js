// How each kind of figure is drawn: from a panel and its axes to the marks of Observable Plot.
"use strict";
const trackbedKinds = (() => {
  const DASHES = ["", "6 3", "2 2", "8 3 2 3", "1 3", "10 4", "4 2 1 2", "12 3 3 3"];
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "asterisk"];
  const colour = (index) => `var(--c${index % 8})`;
  const dash = (index) => DASHES[index % DASHES.length];

  const digits = (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e12 || size < 1e-4)) return value.toExponential(2);
    return Number(value.toPrecision(5)).toLocaleString("en", { maximumFractionDigits: 8 });
  };
  const withUnit = (value, axis) => digits(value) + (axis.unit ? " " + axis.unit : "");
  const label = (axis) => axis.label + (axis.unit ? ` (${axis.unit})` : "");

  // What a reader is told of a point.
  const told = (figure, series, point) => {
    const lines = [point.name ?? series.name];
    if (point.name && figure.panels.some((panel) => panel.series.length > 1)) lines.push(series.name);
    lines.push(`${figure.x.label}: ${withUnit(point.x, figure.x)}`);
    if (point.y !== undefined) lines.push(`${figure.y.label}: ${withUnit(point.y, figure.y)}`);
    const axis = point.y === undefined ? figure.x : figure.y;
    if (point.interval) {
      lines.push(`from ${digits(point.interval[0])} to ${withUnit(point.interval[1], axis)}`);
    }
    if (point.range) {
      lines.push(`samples from ${digits(point.range[0])}, 95 % to ${withUnit(point.range[1], figure.x)}`);
    }
    return lines.join("\n");
  };

  const tip = (figure, rows, options) => Plot.tip(rows, Plot.pointer({
    ...options, title: (row) => told(figure, row.series, row.point), fill: "var(--paper)",
    stroke: "var(--line)", textPadding: 8, fontSize: 12,
  }));

  const rowsOf = (panel) =>
    panel.series.flatMap((series, index) => series.points.map((point) => ({ series, index, point })));

  const rules = (panel) => panel.marks.flatMap((mark) => {
    const [along, text] = mark.vertical ? ["x", { x: mark.at, frameAnchor: "top" }] : ["y", { y: mark.at, frameAnchor: "right" }];
    const marks = [];
    if (mark.until != null) {
      const band = mark.vertical ? { x1: mark.at, x2: mark.until } : { y1: mark.at, y2: mark.until };
      marks.push(Plot.rect([mark], { ...band, fill: "var(--soft)", fillOpacity: 0.3 }));
    } else {
      marks.push((mark.vertical ? Plot.ruleX : Plot.ruleY)([mark.at], { stroke: "var(--soft)", strokeDasharray: "4 3" }));
      if (mark.name) {
        marks.push(Plot.text([mark.name], { ...text, text: (name) => name, fill: "var(--soft)", dy: mark.vertical ? -8 : -6, dx: mark.vertical ? 0 : -4, textAnchor: mark.vertical ? "middle" : "end" }));
      }
    }
    return marks;
  });

  const lines = (figure, panel, curve) => {
    const rows = rowsOf(panel);
    const marks = panel.series.flatMap((series, index) => {
      const banded = series.points.filter((point) => point.interval);
      const own = [];
      if (banded.length > 1) {
        own.push(Plot.areaY(banded, { x: "x", y1: (p) => p.interval[0], y2: (p) => p.interval[1], fill: colour(index), fillOpacity: 0.1, curve }));
      }
      own.push(Plot.line(series.points, { x: "x", y: "y", stroke: colour(index), strokeWidth: 2, strokeDasharray: dash(index), curve }));
      if (curve === "linear" && series.points.length <= 40) {
        own.push(Plot.dot(series.points, { x: "x", y: "y", fill: colour(index), symbol: SYMBOLS[index % 8], r: 3.5 }));
      }
      return own;
    });
    return [...rules(panel), ...marks, tip(figure, rows, { x: (row) => row.point.x, y: (row) => row.point.y })];
  };

  const shorten = (name) => (name.length > 34 ? name.slice(0, 33) + "…" : name);

  const kinds = {
    line: (figure, panel) => ({ marks: lines(figure, panel, "linear") }),
    steps: (figure, panel) => {
      // From nothing to the first value, and on the level of all behind the last.
      const stepped = { ...panel, series: panel.series.map((series) => ({
        ...series, points: [{ x: series.points[0].x, y: 0 }, ...series.points],
      })) };
      return { marks: lines(figure, stepped, "step-after"), y: { domain: [0, 1] } };
    },
    rows: (figure, panel) => {
      const rows = rowsOf(panel);
      const y = (row) => row.point.name;
      return {
        marginLeft: 230,
        height: 60 + 22 * new Set(rows.map(y)).size,
        y: { label: null, domain: [...new Set(rows.map(y))], tickFormat: shorten },
        marks: [
          Plot.gridX({ stroke: "var(--line)" }),
          ...rules(panel),
          Plot.ruleY(rows.filter((row) => row.point.range), { y, x1: (row) => row.point.range[0], x2: (row) => row.point.range[1], stroke: "var(--soft)" }),
          Plot.ruleY(rows.filter((row) => row.point.interval), { y, x1: (row) => row.point.interval[0], x2: (row) => row.point.interval[1], stroke: (row) => colour(row.index), strokeWidth: 6, strokeOpacity: 0.55 }),
          Plot.dot(rows, { y, x: (row) => row.point.x, fill: (row) => colour(row.index), stroke: "var(--paper)", r: 4.5 }),
          tip(figure, rows, { y, x: (row) => row.point.x }),
        ],
      };
    },
    spans: (figure, panel) => {
      const rows = rowsOf(panel);
      const y = (row) => row.point.name;
      return {
        marginLeft: 230,
        height: 60 + 16 * new Set(rows.map(y)).size,
        y: { label: null, domain: [...new Set(rows.map(y))], tickFormat: shorten },
        marks: [
          Plot.gridX({ stroke: "var(--line)" }),
          Plot.barX(rows, { y, x1: (row) => row.point.interval[0], x2: (row) => row.point.interval[1], fill: (row) => colour(row.index), insetTop: 2, insetBottom: 2 }),
          ...rules(panel),
          tip(figure, rows, { y, x: (row) => row.point.interval[1] }),
        ],
      };
    },
    points: (figure, panel) => {
      const rows = rowsOf(panel);
      const front = panel.series[0].points;
      return { marks: [
        ...rules(panel),
        Plot.line(front, { x: "x", y: "y", stroke: colour(0), strokeDasharray: "4 3", curve: "step-after" }),
        ...panel.series.map((series, index) => Plot.dot(series.points, { x: "x", y: "y", fill: colour(index), symbol: SYMBOLS[index % 8], r: 5 })),
        ...(rows.length > 16 ? [] : [Plot.text(rows, { x: (row) => row.point.x, y: (row) => row.point.y, text: (row) => row.point.name, dy: -10, fill: "var(--soft)" })]),
        tip(figure, rows, { x: (row) => row.point.x, y: (row) => row.point.y }),
      ] };
    },
  };

  return { kinds, colour, dash, symbol: (index) => SYMBOLS[index % 8], digits, label };
})();
