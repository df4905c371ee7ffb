// Light, dark, or the system's setting.

const THEMES = [["auto", "system"], ["light", "light"], ["dark", "dark"]];

/** Browsers may deny storage to a local file; then a choice lasts as long as the page. */
function remembered(value) {
  try {
    if (value === undefined) return localStorage.getItem("trackbed-theme") ?? "auto";
    localStorage.setItem("trackbed-theme", value);
  } catch {
    // Without storage the choice is not remembered.
  }
  return value ?? "auto";
}

function themeChooser() {
  const apply = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  const select = element("select", { onchange: () => apply(remembered(select.value)) },
    ...THEMES.map(([value, text]) => element("option", { value }, text)));
  // `#dark` and `#light` in the address override the choice for this visit.
  const asked = location.hash.slice(1);
  select.value = THEMES.some(([value]) => value === asked) ? asked : remembered();
  apply(select.value);
  document.getElementById("controls").append(element("label", {}, "Colours ", select));
}
