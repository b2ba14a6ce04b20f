// The desk works without scripts; this file adds what needs one.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = [...document.querySelectorAll(`${button.dataset.copy} li`)].map((one) => one.textContent.trim());
  navigator.clipboard.writeText(text.join("\n")).then(() => { button.textContent = "Copied"; });
});

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;

// The desk may be closed, or started again, while its pages are open. A form that cannot be sent
// waits until the desk answers again, and takes the token of the new start.
const lost = document.getElementById("lost");

async function isThere() {
  try {
    return (await fetch("/inbox", { method: "HEAD" })).ok;
  } catch {
    return false;
  }
}

async function waitForDesk() {
  lost.hidden = false;
  while (!(await isThere())) await new Promise((done) => { setTimeout(done, 1000); });
  const page = new DOMParser().parseFromString(await (await fetch("/inbox")).text(), "text/html");
  const headers = page.body.getAttribute("hx-headers");
  document.body.setAttribute("hx-headers", headers);
  for (const one of document.querySelectorAll("input[name=csrf]")) one.value = JSON.parse(headers)["X-CSRF-Token"];
  lost.hidden = true;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post" || form.dataset.step === "send") return;
  event.preventDefault();
  if (form.dataset.step) return;
  form.dataset.step = "wait";
  if (!(await isThere())) await waitForDesk();
  form.dataset.step = "send";
  form.requestSubmit(event.submitter);
  delete form.dataset.step;
});

document.addEventListener("htmx:sendError", waitForDesk);

// Parts of a page that the server renews, such as the progress of a harvest.
for (const part of document.querySelectorAll("[data-events]")) {
  const events = new EventSource(part.dataset.events);
  events.onmessage = (event) => { part.innerHTML = event.data; };
  events.onerror = () => {
    events.close();
    waitForDesk().then(() => location.reload());
  };
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
