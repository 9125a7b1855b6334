/** Runs the scenario that all clients run, or measures calls; prints one JSON object. */

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Satchel } from "@satchel/client";
import { measure } from "./bench.js";
import type { Run, Scenario } from "./described.js";
import { STEPS } from "./steps.js";

const USAGE = "usage: run.js --url URL --project NAME (PATH_OF_SCENARIO | --bench SECONDS)";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: "string" }, project: { type: "string" }, bench: { type: "string" } },
});
const [path] = positionals;
if (!values.url || !values.project || (path === undefined) === (values.bench === undefined)) {
  console.error(USAGE);
  process.exit(2);
}
using satchel = new Satchel({ url: values.url, project: values.project, timeoutMs: 30_000 });
const printed = path === undefined ? await measure(satchel, Number(values.bench)) : await scenario(path);
console.log(JSON.stringify(printed, undefined, 2));

/** Runs the steps in the order of the file, and returns what each of them prints. */
async function scenario(file: string): Promise<Record<string, unknown>> {
  const described = JSON.parse(await readFile(file, "utf8")) as Scenario;
  const run: Run = { satchel, wing: described.wing, stored: [], revision: 0n, described };
  const printed: Record<string, unknown> = {};
  for (const { name } of described.steps) {
    const step = STEPS[name];
    if (step === undefined) throw new Error(`This runner does not know the step ${name}.`);
    printed[name] = await step(run);
  }
  return printed;
}
