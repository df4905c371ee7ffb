// The legend; a click hides a series, and another shows it again.

/** A list of the view's series and of the other elements of the shape. */
function legend(figure, view, hidden, redraw) {
  const named = view.series.filter((series) => series.name);
  const unique = named.filter((series, at) => named.findIndex((one) => one.name === series.name) === at);
  const items = unique.length > 1
    ? unique.map((series) => element("li", {}, toggle(figure, series, hidden, redraw)))
    : [];
  const keys = (KEYS[figure.shape]?.(view) ?? []).map(([look, text]) =>
    element("li", { class: "key" }, swatch(look), text));
  return items.length + keys.length ? element("ul", { class: "legend" }, ...items, ...keys) : null;
}

function toggle(figure, series, hidden, redraw) {
  const isShown = !hidden.has(series.name);
  const button = element("button", { type: "button", "aria-pressed": String(isShown) });
  button.append(swatch(lookOf(figure.shape, series)), series.name);
  button.title = isShown ? "Click to hide" : "Click to show";
  button.addEventListener("click", () => {
    if (isShown) hidden.add(series.name);
    else hidden.delete(series.name);
    redraw(series.name);
  });
  return button;
}

/** The look of a series in a shape. */
function lookOf(shape, series) {
  const stroke = colour(series);
  if (shape === "dots") return { fill: stroke, symbol: symbol({ ...series, dash: 0 }) };
  if (shape === "scatter") return { fill: stroke, symbol: symbol(series) };
  if (shape === "map" && series.labels) return { fill: stroke, symbol: symbol(series) };
  const line = { stroke, dash: dashes(series) };
  return shape === "bands" ? { ...line, fill: stroke, symbol: symbol(series) } : line;
}

/** Elements besides the series, with their meaning. */
const KEYS = {
  dots: (view) => [
    [{ band: true }, "95 % confidence interval"],
    ...(view.series.some((series) => series.more.p50)
      ? [
          [{ tick: true }, "p50"],
          [{ symbol: "diamond", hollow: true }, "p95"],
          [{ symbol: "triangle", hollow: true }, "p99"],
        ]
      : []),
  ],
  bars: () => PHASES.map((phase) => [{ box: `var(--s${phase.colour})` }, phase.name]),
};

/** A swatch of a look. */
function swatch(look) {
  const svg = d3.create("svg:svg").attr("width", 26).attr("height", 12).attr("aria-hidden", "true");
  const ink = look.stroke ?? look.fill ?? "var(--quiet)";
  if (look.box) svg.append("rect").attr("width", 22).attr("height", 10).attr("y", 1).attr("fill", look.box);
  if (look.band) {
    svg.append("rect").attr("y", 3).attr("width", 24).attr("height", 6).attr("fill", ink)
      .attr("opacity", 0.45);
  }
  if (look.tick) svg.append("path").attr("d", "M12,1V11").attr("stroke", ink).attr("stroke-width", 2);
  if (look.stroke) {
    svg.append("path").attr("d", "M0,6H24").attr("stroke", ink).attr("stroke-width", 2.2)
      .attr("stroke-dasharray", look.dash || null);
  }
  if (look.symbol) {
    const type = d3[`symbol${look.symbol[0].toUpperCase()}${look.symbol.slice(1)}`];
    svg.append("path").attr("transform", "translate(12,6)").attr("d", d3.symbol(type, 46)())
      .attr("fill", look.hollow ? "none" : ink).attr("stroke", ink)
      .attr("stroke-width", look.hollow ? 1.6 : 0);
  }
  return svg.node();
}
