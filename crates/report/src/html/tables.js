// Rows of tables: those that are asked for, and of very many the first ones until the rest is asked for.

/** Letters of a search, at most: browsers refuse patterns of very many. */
const MOST_LETTERS = 200;

/** A text as it is searched: of a number in groups, its digits. */
function searched(text) {
  return text.toLowerCase().replace(/(\d),(?=\d{3})/g, "$1");
}

/**
 * Folds long tables, and lets rows be chosen. `find` shows the rows with a text, and says how many those are; `whole` gives the places
 * of tables that were unfolded, and `unfold` shows all rows of these. `changed` is called when somebody unfolds one.
 */
function tableRows(tables, changed) {
  const all = tables.map((table) => ({ rows: [...table.querySelectorAll("tbody tr")], isFolded: true, button: null, table }));
  let wanted = "";
  // A row is about what its words say, and about the conditions above its table. What stands in brackets is such a condition by itself; of
  // a number nobody means a part.
  const said = (one, row) => searched([one.table.querySelector("caption"), ...row.querySelectorAll(":not(.figure)")].map((cell) => cell.textContent).join(" "));
  const literal = (part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const asked = () => searched(wanted.slice(0, MOST_LETTERS)).split(/[()]/).map((part) => part.trim()).filter(Boolean).map((part) => new RegExp(`(?<!\\d)${literal(part)}(?!\\d)`));
  const show = (one) => {
    const parts = asked();
    const fit = one.rows.filter((row) => parts.every((part) => part.test(said(one, row))));
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
      changed();
    });
    one.table.after(one.button);
  }
  addEventListener("beforeprint", () => all.forEach((one) => one.rows.forEach((row) => { row.hidden = false; })));
  addEventListener("afterprint", () => all.forEach(show));
  return {
    find: (text) => {
      wanted = text.trim().toLowerCase();
      return all.reduce((sum, one) => sum + show(one), 0);
    },
    whole: () => all.flatMap((one, place) => (one.button && !one.isFolded ? [place] : [])),
    unfold: (places) => all.forEach((one, place) => { one.isFolded = !places.includes(place); }),
  };
}
