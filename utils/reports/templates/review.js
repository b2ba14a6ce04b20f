// -- a review at a glance ---------------------------------------------------------------------

function review(found) {
  const day = found.searched_at.slice(0, 10);
  const numbers = make("dl", "headline", ...found.counts.map((one) =>
    make("div", "", make("dt", "", one.name), make("dd", "", count(one.n)))));
  draw(
    make(
      "section", "",
      make("h1", "", found.title),
      found.question ? line("question", found.question) : null,
      line("small", day ? `Searched last ${day}.` : "Not searched yet."),
      numbers,
      ...found.could_not_tell.map((told) => line("said", `Incomplete: ${told}`)),
    ),
    changes(found.changes),
    make("div", "two", toDo(found), candidates(found)),
    prisma(found),
  );
}

function changes(came) {
  const title = `New since ${came.since}`;
  if (!came.rows.length) return section(title, line("small", "Nothing."));
  const counts = line("legend", ...came.counts.map((one) => make("span", "", `${count(one.n)} ${one.what}`)));
  const rows = came.rows.map((one) => make(
    "li", "", one.title, make("span", "meta", [one.what, one.paper, one.detail].filter(Boolean).join(" \u00b7 ")),
  ));
  const all = came.counts.reduce((sum, one) => sum + one.n, 0);
  const rest = all - rows.length;
  return section(
    title, counts, make("ol", "missing", ...rows),
    rest > 0 ? line("small", `And ${count(rest)} more, in changes.csv of the report.`) : null,
  );
}

function toDo(found) {
  const open = found.open_numbers.map((words) => make("li", "", words));
  const remarks = found.remarks.map((words) => make("li", "", words));
  return section(
    "To do",
    make("ul", "", ...found.steps.map((words) => make("li", "", words))),
    open.length ? line("small", "Boxes of the figure that still need a number:") : null,
    open.length ? make("ul", "small", ...open) : null,
    remarks.length ? line("small", "Notes below the figure:") : null,
    remarks.length ? make("ul", "small", ...remarks) : null,
  );
}

function candidates(found) {
  const title = `Found by citations, not screened (${count(found.waiting)})`;
  if (!found.candidates.length) return section(title, line("small", "None."));
  const list = make("ol", "missing", ...found.candidates.map(candidate));
  const part = section(title, list);
  let start = found.next_start;
  if (start !== null && canCall()) {
    const more = button("More", "quiet", async () => {
      const next = await call("review_board", { review: found.review, start });
      list.append(...next.candidates.map(candidate));
      start = next.next_start;
      if (start === null) more.remove();
    });
    part.append(more);
  }
  return part;
}

function candidate(one) {
  const by = `cited by or citing ${count(one.led_to_by)} included reports`;
  return make("li", "", one.title, make("span", "meta", [one.year, by, one.paper].filter(Boolean).join(" \u00b7 ")));
}
