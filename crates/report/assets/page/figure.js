// A figure on the page: its conditions, its legend, its picture, and what can be done with it.
"use strict";
const trackbedFigure = (() => {
  const { kinds, colour, dash, symbol, digits, label } = trackbedKinds;
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const legend = (panel) => {
    if (panel.series.length < 2) return [];
    const entry = (series, index) => {
      const shape = d3.symbol(d3["symbol" + symbol(index)[0].toUpperCase() + symbol(index).slice(1)], 36)();
      const item = element("li");
      item.innerHTML = `<svg width="34" height="12" aria-hidden="true"><line x1="0" x2="34" y1="6" y2="6" stroke="${colour(index)}" stroke-width="2" stroke-dasharray="${dash(index)}"></line><path d="${shape}" transform="translate(17,6)" fill="${colour(index)}"></path></svg>`;
      item.append(series.name);
      return item;
    };
    return [element("ul", { className: "legend" }, ...panel.series.map(entry))];
  };

  const extent = (figure, panel) => {
    const points = panel.series.flatMap((series) => series.points);
    const read = (point) => [point.x, point.y, ...(point.interval ?? [])].filter((value) => value !== undefined);
    return `${points.length} points; ${label(figure.x)}` + (figure.y.unit || figure.y.label ? `, ${label(figure.y)}` : "") +
      (points.length ? `; values from ${d3.min(points.flatMap(read))} to ${d3.max(points.flatMap(read))}` : "");
  };

  const picture = (figure, panel, width) => {
    const kind = kinds[figure.kind](figure, panel);
    const axis = (axis) => ({ label: label(axis), type: axis.log ? "log" : "linear", grid: true, nice: !axis.log, tickFormat: digits });
    const { x, y, ...rest } = kind;
    const ordinal = figure.kind === "rows" || figure.kind === "spans";
    const svg = Plot.plot({
      width, height: 340, marginLeft: 60, marginBottom: 42, marginTop: 26, marginRight: 24,
      style: { background: "transparent", color: "var(--ink)", fontFamily: "inherit", fontSize: "12px" },
      x: { ...axis(figure.x), ...x }, y: ordinal ? y : { ...axis(figure.y), ...y }, ...rest,
    });
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${figure.title}${panel.name ? ", " + panel.name : ""}: ${extent(figure, panel)}`);
    return svg;
  };

  const dataTable = (figure) => {
    const details = element("details", {}, element("summary", { textContent: "Data" }));
    details.addEventListener("toggle", () => {
      if (details.children.length > 1) return;
      const [heading, ...rows] = trackbedSaving.table(figure);
      const used = heading.map((_, column) => rows.some((row) => row[column] !== undefined && row[column] !== ""));
      const kept = (row) => row.filter((_, column) => used[column]);
      const cells = (row, name) => kept(row).map((value) => element(name, { textContent: value ?? "" }));
      const body = rows.slice(0, 2000).map((row) => element("tr", {}, ...cells(row, "td")));
      const table = element("table", {}, element("thead", {}, element("tr", {}, ...cells(heading, "th"))), element("tbody", {}, ...body));
      const scroll = element("div", { className: "scroll", tabIndex: 0 }, table);
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", figure.title + ", data");
      details.append(scroll);
    });
    return details;
  };

  // Puts a figure into its place, and returns what draws it anew when its width has changed.
  const mount = (figure) => {
    const place = document.getElementById(figure.id);
    const stage = element("div");
    let chosen = 0;
    const draw = () => {
      const panel = figure.panels[chosen];
      const width = Math.max(300, Math.floor(stage.clientWidth));
      stage.replaceChildren(...legend(panel), picture(figure, panel, width));
    };
    const controls = element("div", { className: "controls" });
    if (figure.panels.length > 1) {
      const options = figure.panels.map((panel, index) => element("option", { value: index, textContent: panel.name || "all" }));
      const select = element("select", {}, ...options);
      select.setAttribute("aria-label", "Condition of: " + figure.title);
      select.addEventListener("change", () => { chosen = Number(select.value); draw(); });
      controls.append(select);
    }
    const svg = () => stage.querySelector("svg[role=img]");
    const button = (text, act) => {
      const made = element("button", { type: "button", textContent: text });
      made.setAttribute("aria-label", `Save as ${text}: ${figure.title}`);
      made.addEventListener("click", act);
      return made;
    };
    controls.append(
      button("SVG", () => trackbedSaving.saveSvg(svg(), figure.id)),
      button("PNG", () => trackbedSaving.savePng(svg(), figure.id)),
      button("CSV", () => trackbedSaving.saveCsv(figure)),
    );
    place.append(stage, controls, dataTable(figure));
    return { place, draw };
  };

  return { mount };
})();
