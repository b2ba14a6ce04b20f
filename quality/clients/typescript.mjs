// The official TypeScript clients and the Inspector's command line on the tour of tour.py.
//
// Reads {client, mode, place, steps, schemas} as JSON from standard input; prints what was seen as
// JSON. Results are held against the tools' output schemas by ajv, beside what each client checks.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const { client: chosen, mode, place, steps, envelope } = JSON.parse(await text(process.stdin));
const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
const [command, ...args] = place.command;
const headers = { Authorization: `Bearer ${place.token}` };
const me = { name: "papershelf-contract", version: "1" };

async function typescriptClient() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const negotiation = { mode: mode === "auto" ? { pin: "2026-07-28" } : "legacy" };
  return connected(
    new Client(me, { versionNegotiation: negotiation }),
    StreamableHTTPClientTransport,
    StdioClientTransport,
  );
}

async function typescriptSdk() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const http = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const stdio = await import("@modelcontextprotocol/sdk/client/stdio.js");
  return connected(new Client(me), http.StreamableHTTPClientTransport, stdio.StdioClientTransport);
}

async function connected(client, Http, Stdio) {
  const transport = place.url
    ? new Http(new URL(place.url), { requestInit: { headers } })
    : new Stdio({ command, args, env: place.environment, cwd: place.cwd, stderr: "ignore" });
  await client.connect(transport);
  const asks = {
    tools: () => client.listTools(),
    tool: (step) => client.callTool({ name: step.name, arguments: step.arguments }),
    refusal: (step) => client.callTool({ name: step.name, arguments: step.arguments }),
    resource: (step) => client.readResource({ uri: step.uri }),
    prompt: (step) => client.getPrompt({ name: step.name, arguments: step.arguments }),
    completion: (step) =>
      client.complete({ ref: step.ref, argument: { value: "", ...step.argument } }),
  };
  const era = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "legacy";
  return { era, asks, close: () => client.close() };
}

// One process a question, as a person at the command line would ask it.
function inspector() {
  const here = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json"));
  const cli = join(here, "clients/cli/build/index.js");
  const era = mode === "auto" ? "modern" : "legacy";
  const target = place.url
    ? ["--server-url", place.url, "--transport", "http", "--header", `Authorization: ${headers.Authorization}`]
    : [command, ...args, "--transport", "stdio", "--cwd", place.cwd,
       ...Object.entries(place.environment).flatMap(([name, value]) => ["-e", `${name}=${value}`])];
  const ask = async (method, ...more) => {
    const process_ = spawn(
      process.execPath,
      [cli, ...target, "--protocol-era", era, "--format", "json", "--quiet", "--connect-timeout", "60000", "--method", method, ...more],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const [out, err] = await Promise.all([text(process_.stdout), text(process_.stderr)]);
    if (!out.trim()) throw new Error(err.slice(-300));
    const told = JSON.parse(out);
    return told.result ?? told;
  };
  const call = (step) =>
    ask("tools/call", "--tool-name", step.name, "--tool-args-json", JSON.stringify(step.arguments));
  const asks = {
    tools: () => ask("tools/list"),
    tool: call,
    refusal: call,
    resource: (step) => ask("resources/read", "--uri", step.uri),
    prompt: (step) => {
      const pairs = Object.entries(step.arguments).map(([name, value]) => `${name}=${value}`);
      return ask("prompts/get", "--prompt-name", step.name, ...(pairs.length ? ["--prompt-args", ...pairs] : []));
    },
  };
  return { era, asks, close: () => {} };
}

function faultOf(step, answer, schemas) {
  const misfit = (schema, value) => {
    const fits = ajv.compile(schema);
    return fits(value) ? "" : ajv.errorsText(fits.errors).slice(0, 300);
  };
  switch (step.kind) {
    case "tool":
      if (answer.isError) return `refused: ${answer.content[0].text.slice(0, 300)}`;
      return misfit(schemas[step.name], answer.structuredContent);
    case "refusal":
      if (!answer.isError) return "it was not refused";
      return misfit(envelope, JSON.parse(answer.content[0].text));
    case "resource":
      return answer.contents[0].text ? "" : "nothing to read";
    case "prompt":
      return answer.messages[0].content.text ? "" : "nothing to say";
    default:
      return answer.completion.values.length ? "" : "nothing to complete";
  }
}

const clients = {
  "TypeScript client": typescriptClient,
  "TypeScript SDK": typescriptSdk,
  "Inspector CLI": inspector,
};
const session = await clients[chosen]();
const listed = await session.asks.tools();
const schemas = Object.fromEntries(listed.tools.map((tool) => [tool.name, tool.outputSchema]));
const seen = {};
const faults = [];
let job = "";
let dataset = "";
for (const step of steps) {
  const ask = session.asks[step.kind];
  if (!ask) continue; // the Inspector completes nothing
  try {
    const filled = JSON.stringify(step).replaceAll("$job", job).replaceAll("$dataset", dataset);
    const answer = await ask(JSON.parse(filled));
    const fault = faultOf(step, answer, schemas);
    if (fault) faults.push(`${step.name ?? step.uri ?? step.argument.name}: ${fault}`);
    job = answer.structuredContent?.job_id ?? job;
    dataset = answer.structuredContent?.dataset ?? dataset;
  } catch (error) {
    faults.push(`${step.name ?? step.uri ?? step.argument.name}: ${String(error).slice(0, 300)}`);
  }
  seen[step.kind] = (seen[step.kind] ?? 0) + 1;
}
await session.close();
console.log(JSON.stringify({ era: session.era, seen, faults }));
process.exit(0);
