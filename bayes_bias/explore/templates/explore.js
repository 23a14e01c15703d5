// Sends the fields when they change, and shows what comes back.
const form = document.querySelector("form");
const main = document.querySelector("main");
const byId = (id) => document.getElementById(id);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
let running = new AbortController();

// Returns the answer of the server, or throws the message of the package.
async function ask(address, options) {
  let answer;
  try {
    answer = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server has stopped. Start bayes-bias explore again.");
  }
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

const fields = () => new URLSearchParams(new FormData(form));

// A live region is read aloud if it changes, so that an equal text is not set again.
function show(parts) {
  for (const [id, html] of Object.entries(parts)) {
    const element = byId(id);
    if (element.shown !== html) element.innerHTML = element.shown = html;
  }
}

function fail(error) {
  if (error.name === "AbortError") return;
  main.dataset.state = "error";
  byId("verdict").innerHTML = byId("verdict").shown = "";
  byId("error").textContent = error.message;
}

// The verdict is shown first, then the figure, and the checks when nobody has typed for a while.
async function update() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  main.dataset.state = "busy";
  try {
    await pause(200);
    for (const part of ["verdict", "figure", "checks"]) {
      if (part === "checks") await pause(600);
      if (signal.aborted) return;
      const answer = await ask(`parts/${part}`, { method: "POST", body: fields(), signal });
      const parts = await answer.json();
      if (signal.aborted) return;
      show(parts);
      byId("error").textContent = "";
      main.dataset.state = { verdict: "drawing", figure: "checking", checks: "done" }[part];
    }
  } catch (error) {
    fail(error);
  }
}

// The notices are those about an uploaded list.
function fill({ notices = "", ...values }) {
  byId("loaded").textContent = notices;
  for (const [name, text] of Object.entries(values)) {
    if (name !== "embedding") form.elements[name].value = text;
  }
  update();
}

async function read(file) {
  const most = Number(main.dataset.mostBytes);
  try {
    if (file.size > most) throw new Error(`'${file.name}' has more than ${most.toLocaleString("en")} bytes. Use a shorter list.`);
    const headers = { "X-Filename": encodeURIComponent(file.name) };
    fill(await (await ask("list", { method: "POST", body: await file.arrayBuffer(), headers })).json());
  } catch (error) {
    running.abort();
    fail(error);
  }
}

async function save(button) {
  byId("saving").textContent = `${button.textContent} is being written …`;
  try {
    const answer = await ask(`files/${button.dataset.file}`, { method: "POST", body: fields() });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = decodeURIComponent(answer.headers.get("Content-Disposition").split("''")[1]);
    link.click();
    byId("saving").textContent = `${link.download} is saved.`;
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  } catch (error) {
    byId("saving").textContent = error.message;
  }
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => { if (event.target.name) update(); });
byId("load").addEventListener("click", () => fill(JSON.parse(byId("example").value)));
byId("file").addEventListener("change", (event) => { if (event.target.files.length) read(event.target.files[0]); });
for (const button of form.querySelectorAll("[data-file]")) button.addEventListener("click", () => save(button));
// A file may be dropped anywhere: the browser would otherwise open it and leave the page.
for (const name of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(name, (event) => {
    byId("drop").classList.toggle("over", name === "dragover");
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    if (name === "drop" && event.dataTransfer.files.length) read(event.dataTransfer.files[0]);
  });
}
update();
