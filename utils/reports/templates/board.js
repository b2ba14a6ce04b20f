// -- the board: a harvest at a glance ---------------------------------------------------------

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
  return button("Continue this harvest", "", async () => {
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
    section("Full texts by source, of the papers requested there", ...(sources.length ? sources : [line("small", "No source was asked yet.")])),
    section("Why texts are missing", ...(reasons.length ? reasons : [line("small", "No text is missing.")])),
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
  const mine = timer;
  const found = await call("review_board", { job_id });
  if (timer === mine) board(found); // else something else is looked at by now
}
