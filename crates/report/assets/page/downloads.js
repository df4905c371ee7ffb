// A figure as SVG or PNG, and its data as CSV. Each states its origin.

const PADDING = 16;
const PIXELS = 2;

function fileName(figure, ending) {
  const name = `${data.name}-${figure.id}`.replace(/[^A-Za-z0-9._-]+/g, "-");
  return `${name}.${ending}`;
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The drawing with title, legend and source, in colours that need no style sheet. */
function standalone(figure, view, node) {
  const width = Number(node.getAttribute("width"));
  const inner = Number(node.getAttribute("height"));
  const series = view.series.filter((one) => one.name);
  const rows = legendRows([...new Map(series.map((one) => [one.name, one])).values()], width);
  const head = 52 + rows.length * 18;
  const svg = d3.create("svg:svg").attr("xmlns", "http://www.w3.org/2000/svg");
  const full = { width: width + 2 * PADDING, height: inner + head + 44 };
  svg.attr("width", full.width).attr("height", full.height)
    .attr("viewBox", `0 0 ${full.width} ${full.height}`)
    .attr("font-family", "system-ui, sans-serif").attr("font-size", 12)
    .attr("style", "color: var(--ink)").attr("fill", "var(--ink)");
  svg.append("rect").attr("width", "100%").attr("height", "100%").attr("fill", "var(--card)");
  svg.append("text").attr("x", PADDING).attr("y", 24).attr("font-size", 15).attr("font-weight", 600)
    .text(titleOf(figure, view));
  rows.forEach((row, line) => row.forEach(({ series: one, x }) => {
    const item = svg.append("g").attr("transform", `translate(${PADDING + x},${36 + line * 18})`);
    item.append(() => swatch(lookOf(figure.shape, one)));
    item.append("text").attr("x", 30).attr("y", 10).text(one.name);
  }));
  const copy = node.cloneNode(true);
  copy.setAttribute("x", PADDING);
  copy.setAttribute("y", head);
  svg.node().append(copy);
  [view.caption, data.model ? `MODEL, no measurement. ${data.source}` : data.source].forEach((text, line) => {
    svg.append("text").attr("x", PADDING).attr("y", head + inner + 16 + 16 * line).attr("font-size", 11)
      .attr("fill", "var(--quiet)").text(text);
  });
  return { text: resolved(new XMLSerializer().serializeToString(svg.node())), ...full };
}

/** The legend's entries, wrapped into rows. */
function legendRows(series, width) {
  if (series.length < 2) return [];
  const rows = [[]];
  let x = 0;
  for (const one of series) {
    const wide = textWidth(one.name) + 48;
    if (x > 0 && x + wide > width) {
      rows.push([]);
      x = 0;
    }
    rows[rows.length - 1].push({ series: one, x });
    x += wide;
  }
  return rows;
}

/** Replaces custom properties with their values in this theme. */
function resolved(text) {
  const style = getComputedStyle(document.documentElement);
  return text.replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

function titleOf(figure, view) {
  const choices = view.choice.map((option, at) => `${figure.choosers[at].name} ${figure.choosers[at].options[option]}`);
  const said = figure.choosers.length ? `: ${choices.join(", ")}` : "";
  return `${data.name}: ${figure.title}${said}`;
}

function saveSvg(figure, view, node) {
  const { text } = standalone(figure, view, node);
  save(new Blob([text], { type: "image/svg+xml" }), fileName(figure, "svg"));
}

async function savePng(figure, view, node) {
  const { text, width, height } = standalone(figure, view, node);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = element("canvas", { width: width * PIXELS, height: height * PIXELS });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  save(blob, fileName(figure, "png"));
}

/** Every point of every view as a line: the choices, the series, and the values. */
function csv(figure) {
  // A text must not act as a formula in a spreadsheet.
  const isFormula = (value) => typeof value === "string" && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value));
  const quote = (value) => {
    const text = value === null || value === undefined ? "" : (isFormula(value) ? "'" : "") + value;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const all = figure.views.flatMap((view) => view.series);
  const more = [...new Set(all.flatMap((series) => Object.keys(series.more ?? {})))];
  const has = { labels: all.some((series) => series.labels), y: all.some((series) => series.y) };
  const heading = [
    ...figure.choosers.map((chooser) => chooser.name), "series", ...(has.labels ? ["label"] : []),
    "x", "x name", ...(has.y ? ["y", "y name"] : []), ...more,
  ];
  const lines = figure.views.flatMap((view) => {
    const chosen = view.choice.map((option, at) => figure.choosers[at].options[option]);
    return view.series.flatMap((series) => pointsOf(series).map((point) => [
      ...chosen, series.name, ...(has.labels ? [point.label] : []), point.x, axisLabel(view.x),
      ...(has.y ? [point.y, axisLabel(view.y[series.panel ?? 0])] : []), ...more.map((name) => point[name]),
    ]));
  });
  return [heading, ...lines].map((line) => line.map(quote).join(",")).join("\r\n") + "\r\n";
}

function saveCsv(figure) {
  save(new Blob([csv(figure)], { type: "text/csv" }), fileName(figure, "csv"));
}
