// The desk works without scripts; this file adds what needs one.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = [...document.querySelectorAll(`${button.dataset.copy} li`)].map((one) => one.textContent.trim());
  navigator.clipboard.writeText(text.join("\n")).then(() => { button.textContent = "Copied"; });
});

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
