// The desk works without scripts; this file adds what needs one.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = [...document.querySelectorAll(`${button.dataset.copy} li`)].map((one) => one.textContent.trim());
  navigator.clipboard.writeText(text.join("\n")).then(() => { button.textContent = "Copied"; });
});

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;

// Parts of a page that the server renews, such as the progress of a harvest.
for (const part of document.querySelectorAll("[data-events]")) {
  const events = new EventSource(part.dataset.events);
  const lost = document.getElementById("lost");
  events.onmessage = (event) => {
    part.innerHTML = event.data;
    lost.hidden = true;
  };
  events.onerror = () => { lost.hidden = false; };
  events.addEventListener("ended", () => {
    events.close();
    location.reload();
  });
}

// Files that are dropped on a page are put into its form.
for (const form of document.querySelectorAll("[data-drop]")) {
  const input = form.querySelector("input[type=file]");
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.focus();
  });
}

// Keys of buttons, such as those of screening; not while a person writes.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select")) return;
  for (const button of document.querySelectorAll("[data-key]")) {
    if (button.dataset.key !== event.key.toLowerCase()) continue;
    event.preventDefault();
    button.click();
    return;
  }
});
