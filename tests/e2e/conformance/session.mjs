// One session of the official TypeScript SDK. Reads {transport, url | command, steps} from stdin, calls the
// tools of the steps in order, and writes their results. "$0" in an argument is the id that step 0 returned.
// The user agrees to everything; how often the user was asked is written too.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { transport, url, command, steps } = JSON.parse(readFileSync(0, "utf-8"));
const transports = {
  stdio: () => new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "inherit" }),
  sse: () => new SSEClientTransport(new URL(url)),
  http: () => new StreamableHTTPClientTransport(new URL(url)),
};

const client = new Client({ name: "session", version: "1.0.0" }, { capabilities: { elicitation: {} } });
let questions = 0;
client.setRequestHandler(ElicitRequestSchema, async () => {
  questions += 1;
  return { action: "accept", content: { confirm: true } };
});

await client.connect(transports[transport]());
const results = [];
for (const [name, given] of steps) {
  const filled = JSON.stringify(given).replace(/\$(\d+)\.(\w+)/g, (_, step, member) => results[step].structuredContent[member]);
  results.push(await client.callTool({ name, arguments: JSON.parse(filled) }));
}
await client.close();
process.stdout.write(JSON.stringify({ questions, results }));
