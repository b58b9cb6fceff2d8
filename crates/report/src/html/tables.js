// Rows of tables: those that are asked for, and of very many the first ones until the rest is asked for.

const MOST_ROWS = 40;

/** Folds long tables, and lets rows be chosen. Returns a function that shows the rows with a text, and says how many those are. */
function tableRows(tables) {
  const all = tables.map((table) => ({ rows: [...table.querySelectorAll("tbody tr")], isFolded: true, button: null, table }));
  let wanted = "";
  // A row is about what it says, and about the conditions above its table.
  const text = (one, row) => [one.table.querySelector("caption"), ...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
  const words = () => wanted.split(/[\s,()]+/).filter(Boolean);
  const show = (one) => {
    const fit = one.rows.filter((row) => words().every((word) => text(one, row).includes(word)));
    const kept = new Set(one.isFolded ? fit.slice(0, MOST_ROWS) : fit);
    one.rows.forEach((row) => { row.hidden = !kept.has(row); });
    if (one.button) {
      one.button.hidden = !one.isFolded || fit.length <= MOST_ROWS;
      one.button.textContent = `Show all ${number(fit.length)} rows`;
    }
    return fit.length;
  };
  for (const one of all.filter(({ rows }) => rows.length > MOST_ROWS)) {
    one.button = document.createElement("button");
    one.button.type = "button";
    one.button.className = "more scripted";
    one.button.addEventListener("click", () => {
      one.isFolded = false;
      show(one);
      one.table.focus();
    });
    one.table.after(one.button);
  }
  addEventListener("beforeprint", () => all.forEach((one) => one.rows.forEach((row) => { row.hidden = false; })));
  addEventListener("afterprint", () => all.forEach(show));
  return (text) => {
    wanted = text.trim().toLowerCase();
    return all.reduce((sum, one) => sum + show(one), 0);
  };
}
