// The page is whole without this: sorting, filtering and the choice of light or dark are added.
"use strict";

const FEW = 6; // A table with fewer rows needs no filter.

// A row is written after the one it belongs to (a published figure under the measured one),
// and the original order is what an unsorted table goes back to.
function sortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent.trim();
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const after = before === null ? "ascending" : before === "ascending" ? "descending" : null;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (after === null) {
        body.append(...original);
        return;
      }
      heading.setAttribute("aria-sort", after);
      body.append(...sorted(original, column, after === "ascending" ? 1 : -1));
    });
  });
}

function sorted(rows, column, sign) {
  const numeric = rows.some((row) => Number.isFinite(key(row, column)));
  return rows
    .map((row, index) => ({ row, index, key: numeric ? key(row, column) : text(row, column) }))
    .sort((a, b) => compare(a.key, b.key, sign) || a.index - b.index)
    .map((item) => item.row);
}

function key(row, column) {
  const value = row.cells[column].dataset.value;
  return value === undefined || value === "" ? NaN : Number(value);
}

function text(row, column) {
  return row.cells[column].textContent.trim();
}

// What is missing or not a number comes last, whichever way the table is sorted.
function compare(a, b, sign) {
  const [lacksA, lacksB] = [lacking(a), lacking(b)];
  if (lacksA || lacksB) return lacksA - lacksB;
  if (typeof a === "number") return sign * (a - b);
  return sign * a.localeCompare(b, undefined, { numeric: true });
}

function lacking(value) {
  return Number(typeof value === "number" ? Number.isNaN(value) : value === "" || value === "–");
}

function filterable(block, table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < FEW) return;
  const heading = block.querySelector("h3, h4").textContent;
  const bar = document.createElement("div");
  bar.className = "filter";
  const label = document.createElement("label");
  label.textContent = "Filter ";
  const input = document.createElement("input");
  input.type = "search";
  input.setAttribute("aria-label", `Filter: ${heading}`);
  input.placeholder = "e.g. jax 256";
  label.append(input);
  const count = document.createElement("output");
  count.setAttribute("aria-live", "polite");
  bar.append(label, count);
  block.querySelector(".scroll").before(bar);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const cells = [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" ");
      row.hidden = !words.every((word) => cells.includes(word));
      shown += Number(!row.hidden);
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
}

function themes() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "theme";
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const say = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Show in light colours" : "Show in dark colours");
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    say();
  });
  say();
  const item = document.createElement("li");
  item.className = "theme-item";
  item.style.marginLeft = "auto";
  item.append(button);
  document.querySelector("nav ul").append(item);
}

for (const block of document.querySelectorAll(".table")) {
  const table = block.querySelector("table");
  if (!table) continue;
  sortable(table);
  filterable(block, table);
}
themes();
