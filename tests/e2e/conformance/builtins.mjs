// The suite imports `globSync`, which node:fs has from version 22 on, for a command that is not used here.
import { register } from "node:module";

const fs = `data:text/javascript,${encodeURIComponent(
  'import fs from "node:fs"; export * from "node:fs"; export const globSync = fs.globSync;',
)}`;
const hooks = `export async function resolve(name, context, next) {
  return name === "fs" ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
