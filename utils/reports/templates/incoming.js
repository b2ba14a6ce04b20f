// -- what comes in ----------------------------------------------------------------------------

function show(result) {
  const found = result.structuredContent ?? {};
  if (result.isError) draw(line("said", words(result)));
  else if (found.review) review(found);
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
