// The view of the MCP App: it draws what the host hands it, and asks the host for more.
// Every word from a paper enters as text, never as markup; no address is contacted.
"use strict";

const PROTOCOL = "2026-01-26";
const POLL_MS = 5000;
const view = document.getElementById("view");
let host = {};
let timer = 0;

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
    try {
      await act(made);
    } catch (trouble) {
      made.after(line("said", trouble.message));
    }
    made.disabled = false;
  });
  return made;
}

// -- the board --------------------------------------------------------------------------------

const STATES = {
  full_text: "full text", abstract: "abstract only", record: "record only",
  failed: "no text", pending: "not tried yet",
};

function head(board) {
  const all = Object.values(board.counts).reduce((sum, n) => sum + n, 0) || 1;
  const bar = make("div", "whole");
  const legend = make("p", "legend");
  for (const [state, label] of Object.entries(STATES)) {
    const n = board.counts[state] ?? 0;
    if (!n) continue;
    const piece = make("i", state);
    piece.style.width = `${(100 * n) / all}%`;
    bar.append(piece);
    legend.append(make("span", "", make("i", `key ${state}`), `${count(n)} ${label}`));
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", legend.textContent);
  return make(
    "section", "",
    line("question", board.title),
    make("h1", "", board.headline),
    make("span", `state ${board.state}`, board.state),
    bar, legend,
    ...board.waits.map((wait) => line("small", wait)),
    again(board),
  );
}

function again(board) {
  if (!canCall() || !["interrupted", "cancelled"].includes(board.state)) return null;
  return button("Go on with this harvest", "", async () => {
    await call("harvest_papers", { job_id: board.job_id });
    await renew(board.job_id);
  });
}

function row(name, n, share, beneath) {
  const track = make("span", "track");
  const part = make("i");
  part.style.width = `${100 * share}%`;
  track.append(part);
  return make(
    "div", "row", make("span", "", name), make("span", "n", n), track,
    beneath ? make("small", "", beneath) : null,
  );
}

function coverage(board) {
  const sources = board.sources.map((one) =>
    row(one.source, `${count(one.full_text)} of ${count(one.asked)}`, one.asked ? one.full_text / one.asked : 0));
  const most = Math.max(1, ...board.reasons.map((one) => one.papers));
  const reasons = board.reasons.map((one) =>
    row(one.reason, count(one.papers), one.papers / most, one.advice));
  return make(
    "div", "two",
    section("Texts by source, of the papers it was asked for", ...(sources.length ? sources : [line("small", "None asked yet.")])),
    section("Why texts are missing", ...(reasons.length ? reasons : [line("small", "None is missing.")])),
  );
}

function prisma(board) {
  const flow = make("div", "flow");
  for (const box of board.prisma) {
    const open = box.n === null;
    const number = open ? make("small", "", "for the reviewers to fill in") : make("b", "", `n = ${count(box.n)}`);
    const parts = (box.parts ?? []).map((part) => make("small", "", `${part.text} (n = ${count(part.n)})`));
    const side = box.left_out ? "left-out" : "kept";
    flow.append(make("div", `${side} ${open ? "open" : ""}`, `${box.title} `, number, ...parts));
  }
  return section("PRISMA 2020", flow);
}

function missing(board) {
  if (!board.missing.length) return null;
  const list = make("ol", "missing", ...board.missing.map(paper));
  const part = section("Not retrieved", list);
  let start = board.next_start;
  if (start !== null && canCall()) {
    const more = button("More", "quiet", async () => {
      const next = await call("review_board", { job_id: board.job_id, start });
      list.append(...next.missing.map(paper));
      start = next.next_start;
      if (start === null) more.remove();
    });
    part.append(more);
  }
  return part;
}

function paper(one) {
  const title = one.link ? link(one.link, one.title) : one.title;
  return make("li", "", title, make("span", "meta", `${one.paper} · ${one.reason}. ${one.detail}`));
}

function board(found) {
  draw(head(found), coverage(found), prisma(found), missing(found) ?? "");
  clearTimeout(timer);
  if (found.state === "running" && canCall()) {
    timer = setTimeout(() => renew(found.job_id).catch((trouble) => view.prepend(line("said", trouble.message))), POLL_MS);
  }
}

async function renew(job_id) {
  board(await call("review_board", { job_id }));
}

// -- what comes in ----------------------------------------------------------------------------

function show(result) {
  const found = result.structuredContent ?? {};
  if (result.isError) draw(line("said", words(result)));
  else if (Array.isArray(found.prisma)) board(found);
  else draw(make("pre", "", words(result)));
}

new ResizeObserver(() => {
  const { width, height } = document.documentElement.getBoundingClientRect();
  tell("ui/notifications/size-changed", { width: Math.ceil(width), height: Math.ceil(height) });
}).observe(document.documentElement);

ask("ui/initialize", {
  appCapabilities: {},
  appInfo: { name: "papershelf-board", version: "1" },
  protocolVersion: PROTOCOL,
}).then((answer) => {
  host = answer;
  dress(answer.hostContext ?? {});
  tell("ui/notifications/initialized");
});
