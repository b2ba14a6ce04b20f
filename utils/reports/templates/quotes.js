// -- quotations: each in its passage ----------------------------------------------------------

const VERDICTS = {
  verbatim: "Word for word", near: "Near, not word for word", absent: "Not in the text", unclear: "Could not be looked for",
};
const KINDS = { full_text: "full text", abstract: "abstract only" };
let before = null; // what was shown when a quotation was opened: its label, and how it is drawn
let looked = null; // the quotation whose neighbours are read

const badge = (verdict) => make("span", `verdict ${verdict in VERDICTS ? verdict : "unclear"}`, VERDICTS[verdict] ?? verdict);
const differences = (found) => found.differences?.length
  ? make("ul", "differences", ...found.differences.map((one) => make("li", "", one))) : null;

function quotations(found) {
  before = { label: "All quotations", show: () => quotations(found) };
  const given = asked.quotes ?? [];
  const rows = found.quotes.map((one, index) => quoteRow(one, given[index]?.text ?? "", given[index]?.paper ?? ""));
  const exact = found.quotes.filter((one) => one.verdict === "verbatim").length;
  draw(
    section("Quotations", make("h1", "", `${count(exact)} of ${count(rows.length)} word for word`), make("ol", "quotes", ...rows)),
    ...(found.warnings ?? []).map((one) => line("small", one)),
    lookUp() ?? "",
  );
}

function quoteRow(one, text, paper) {
  const there = one.verdict !== "absent";
  const at = one.handle ?? one.nearest_at;
  const place = there ? [at ?? paper, one.section].filter(Boolean).join(" · ") : paper;
  const row = make(
    "li", "", badge(one.verdict), make("blockquote", "", text || one.printed || one.nearest || at || ""),
    place ? make("span", "meta", place) : null, differences(one), one.why ? make("span", "meta", one.why) : null,
  );
  if (at && canCall()) {
    // In the paper where it was found; with its words, that they can be marked.
    const what = text && there ? { quote: text, paper: at.split("#")[0] } : { paper: at };
    const label = there ? "Show the passage" : "Show what comes nearest";
    const show = button(label, "quiet", () => open(what));
    show.setAttribute("aria-label", `${label}: “${text.slice(0, 80) || at}”`);
    row.append(show);
  }
  return row;
}

async function open(what) {
  quotation(await call("show_quote", what));
  document.getElementById("passage")?.focus();
}

function quotation(found) {
  clearTimeout(timer); // a board that is renewed would take its place
  timer = 0;
  if (found.quote) looked = found;
  draw(
    make("section", "", ...verdict(found), ...about(found), found.passage.length ? passage(found) : null),
    ...(found.warnings ?? []).map((one) => line("small", one)),
    ways(found),
    lookUp(found) ?? "",
  );
  const [words, first] = [view.querySelector(".words"), view.querySelector("mark")];
  if (first) words.scrollTop = first.offsetTop - words.offsetTop - words.clientHeight / 3;
}

function verdict(found) {
  if (!found.verdict) return [make("h2", "", "A passage")];
  const missing = found.verdict === "absent"
    ? line("small", found.paper
      ? `These words are not in the ${KINDS[found.paper.kind] ?? found.paper.kind} that is on the shelf.`
      : "These words are in no paper that could be looked through.")
    : null;
  return [make("h2", "", "Quotation"), badge(found.verdict), make("blockquote", "", found.quote), differences(found), missing];
}

function about(found) {
  const paper = found.paper;
  if (!paper) return [];
  const kind = [KINDS[paper.kind] ?? paper.kind, paper.version].filter(Boolean).join(", ");
  return [
    make("h1", "title", ...set({ text: paper.title })),
    paper.retracted ? line("said", "This paper was retracted.") : null,
    line("meta", [paper.reference, paper.ids].filter(Boolean).join(" · ")),
    line("meta", `${kind} · License: ${paper.license || "not stated"}`),
  ];
}

function passage(found) {
  const words = make("div", "words", ...(table(found.passage) ?? set(...found.passage)));
  const where = [found.section || "Without a heading", found.blocks ? `block ${count(found.block)} of ${count(found.blocks)}` : ""];
  const made = make("article", "passage", make("p", "meta", where.filter(Boolean).join(" · ")), words);
  made.id = "passage";
  made.tabIndex = 0;
  made.setAttribute("aria-label", `Passage, ${where.filter(Boolean).join(", ")}`);
  made.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight");
  made.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    document.getElementById(step)?.click();
  });
  return made;
}

// A table in pipes as a table, with what stands above and below; null where there is none.
function table(pieces) {
  const lines = pieces.map((one) => one.text).join("").split("\n");
  const first = lines.findIndex((one, at) => one.startsWith("|") && /^\|[\s|:-]+\|$/.test(lines[at + 1] ?? ""));
  if (first < 0 || pieces.some((one) => one.quoted)) return null;
  const after = lines.findIndex((one, at) => at > first && !one.startsWith("|"));
  const last = after < 0 ? lines.length : after;
  const cells = (row) => row.slice(1, row.endsWith("|") ? -1 : undefined).split(/(?<!\\)\|/);
  const row = (tag) => (one) => make("tr", "", ...cells(one).map((cell) => make(tag, "", ...set({ text: cell.trim() }))));
  const made = make("table", "", make("thead", "", row("th")(lines[first])), make("tbody", "", ...lines.slice(first + 2, last).map(row("td"))));
  const prose = (some) => set({ text: some.join("\n").trim() });
  return [...prose(lines.slice(0, first)), make("div", "scroll", made), ...prose(lines.slice(last))];
}

// Emphasis, raised and lowered letters as the file spells them; all else is text. A mark may begin
// in one piece of a passage and end in another.
const SPELLED = /(\\[*_[\]<>#|`~$\\]|<\/?(?:sup|sub|i|b|em|strong)>|\*{1,3})/;
const STARS = { "*": ["em"], "**": ["strong"], "***": ["em", "strong"] };

function set(...pieces) {
  const now = new Set();
  const made = [];
  for (const { text, quoted } of pieces) {
    for (const part of text.split(SPELLED)) {
      const [, end, tag] = /^<(\/?)(\w+)>$/.exec(part) ?? [];
      if (tag) end ? now.delete(tag) : now.add(tag);
      else if (STARS[part]) STARS[part].forEach((one) => now.delete(one) || now.add(one));
      else if (part) made.push(within(now, /^\\.$/.test(part) ? part[1] : part, quoted));
    }
  }
  return made;
}

function within(tags, text, quoted) {
  let made = document.createTextNode(text);
  for (const tag of tags) made = make(tag, "", made);
  return quoted ? make("mark", "", made) : made;
}

function ways(found) {
  const beside = (name, label) => {
    if (!found[name] || !canCall()) return null;
    const made = button(label, "quiet", () => open({ paper: found[name] }));
    made.id = name;
    return made;
  };
  const back = looked && !found.quote ? button("Back to the quotation", "quiet", () => {
    quotation(looked);
    document.getElementById("passage")?.focus();
  }) : null;
  const all = before ? button(before.label, "quiet", () => {
    before.show();
    view.querySelector("button, summary")?.focus();
  }) : null;
  const source = found.source.url ? link(found.source.url, found.source.label) : null;
  return make("nav", "ways", beside("previous", "← Previous block"), beside("next", "Next block →"), back, all, source);
}

function lookUp(found = {}) {
  if (!canCall()) return null;
  const quote = field("textarea", "Quotation", found.quote ?? "");
  const paper = field("input", "Paper (identifier or handle; empty: all papers)", found.paper?.ids?.split(" ")[0] ?? "");
  const look = button("Look it up", "", async () => {
    const what = { quote: quote.value.trim(), paper: paper.value.trim() };
    if (!what.quote && !what.paper) throw new Error("Write a quotation, or the handle of a passage.");
    await open(what);
  });
  const form = make("form", "look-up", quote.parentElement, paper.parentElement, look);
  form.addEventListener("submit", (event) => { event.preventDefault(); look.click(); });
  return make("details", "", make("summary", "", "Look up a quotation"), form);
}

function field(tag, label, value) {
  const made = make(tag, "");
  made.value = value;
  make("label", "", make("span", "", label), made);
  return made;
}
