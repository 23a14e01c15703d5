// Tables that can be sorted: without this script they are read as they stand.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const numbers = Number(x) - Number(y);
        return (Number.isNaN(numbers) ? x.localeCompare(y, undefined, { numeric: true }) : numbers) * (up ? 1 : -1);
      };
      body.append(...[...body.rows].sort(order));
    });
  });
}
// What is wider than the page says that it can be scrolled.
const mark = () => {
  for (const box of document.querySelectorAll(".scroll")) box.classList.toggle("wider", box.scrollWidth > box.clientWidth + 1);
};
addEventListener("load", mark);
addEventListener("resize", mark);
