// The page of the MCP App draws what the host hands it, and asks the host for more.
// Every word from a paper enters as text, never as markup; no address is contacted.
"use strict";

const PROTOCOL = "2026-01-26";
const POLL_MS = 5000;
const view = document.getElementById("view");
let host = {};
let timer = 0;
let asked = {}; // the arguments of the call whose result is shown

// -- the host ---------------------------------------------------------------------------------

const waiting = new Map();
let number = 0;
const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const tell = (method, params = {}) => post({ method, params });

function ask(method, params = {}) {
  const id = ++number;
  post({ id, method, params });
  return new Promise((answer, refuse) => waiting.set(id, { answer, refuse }));
}

async function call(name, given) {
  const result = await ask("tools/call", { name, arguments: given });
  if (result.isError) throw new Error(words(result) || `${name} failed.`);
  return result.structuredContent ?? {};
}

function words(result) {
  const text = (result.content ?? []).find((block) => block.type === "text")?.text ?? "";
  try {
    const { error } = JSON.parse(text);
    return [error.message, ...(error.suggestions ?? [])].join(" ");
  } catch {
    return text;
  }
}

window.addEventListener("message", ({ source, data }) => {
  if (source !== window.parent || data?.jsonrpc !== "2.0") return;
  if (data.method === undefined) {
    const one = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) one?.refuse(new Error(data.error.message));
    else one?.answer(data.result ?? {});
  } else if (data.method === "ui/notifications/tool-input") {
    asked = data.params?.arguments ?? {};
  } else if (data.method === "ui/notifications/tool-result") {
    show(data.params ?? {});
  } else if (data.method === "ui/notifications/tool-cancelled") {
    draw(line("said", "The call was cancelled."));
  } else if (data.method === "ui/notifications/host-context-changed") {
    dress(data.params ?? {});
  } else if (data.id !== undefined) {
    if (data.method === "ui/resource-teardown") clearTimeout(timer);
    post({ id: data.id, result: {} });
  }
});

// A host's light or dark wins over the system's.
function dress({ theme }) {
  if (theme === "light" || theme === "dark") document.documentElement.style.colorScheme = theme;
}

const canCall = () => Boolean(host.hostCapabilities?.serverTools);

// -- pieces -----------------------------------------------------------------------------------

function make(tag, looks, ...inside) {
  const made = document.createElement(tag);
  if (looks) made.className = looks;
  made.append(...inside.filter((one) => one !== null && one !== undefined && one !== ""));
  return made;
}

const line = (looks, ...inside) => make("p", looks, ...inside);
const count = (n) => Number(n).toLocaleString();
const draw = (...parts) => view.replaceChildren(...parts);
const section = (title, ...inside) => make("section", "", make("h2", "", title), ...inside);

function link(address, ...inside) {
  const made = make("a", "", ...inside);
  made.href = /^https?:/.test(address) ? address : "#";
  made.addEventListener("click", (event) => {
    event.preventDefault();
    ask("ui/open-link", { url: address }).catch(() => undefined);
  });
  return made;
}

function button(label, looks, act) {
  const made = make("button", looks, label);
  made.type = "button";
  made.addEventListener("click", async () => {
    made.disabled = true;
    if (made.nextElementSibling?.matches(".said")) made.nextElementSibling.remove();
    try {
      await act(made);
    } catch (trouble) {
      made.after(line("said", trouble.message));
    }
    made.disabled = false;
  });
  return made;
}
