// A button on each block of code copies it; of a terminal's lines it takes the commands alone, without their prompt.
const written = (block) => {
  const lines = block.textContent.trimEnd().split("\n");
  const commands = lines.filter((line) => line.startsWith("$ "));
  return (commands.length ? commands.map((line) => line.slice(2)) : lines).join("\n");
};
addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    if (block.closest(".cell_output:not(.tag_terminal *)")) continue; // what a cell prints
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(written(block.querySelector("pre")));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
