/** The steps about the call itself: errors, a deadline, a trace. */

import { randomBytes } from "node:crypto";
import { fromJson } from "@bufbuild/protobuf";
import { decodeBinaryHeader } from "@connectrpc/connect";
import { GetMemoryRequestSchema, SpanKind, StoreMemoryRequestSchema, TraceSpansSchema } from "@satchel/client";
import { all, failing, member } from "./described.js";
import type { Run } from "./described.js";
import { recallRequest } from "./reading.js";

export async function invalidArgument({ satchel, described }: Run) {
  const request = fromJson(StoreMemoryRequestSchema, member(described, "invalid_argument", "request"));
  const { code, reason, domain, metadata } = await failing(satchel.memories.storeMemory(request));
  return { code, reason, domain, metadata };
}

export async function missingMemory({ satchel, described }: Run) {
  const request = fromJson(GetMemoryRequestSchema, member(described, "missing_memory", "request"));
  const { code, reason, domain, metadata } = await failing(satchel.memories.getMemory(request));
  return { code, reason, domain, metadata };
}

export async function deadline({ satchel, described, revision }: Run) {
  const timeoutMs = member<number>(described, "deadline", "deadline_ms");
  const feed = satchel.changes.watchChanges({ afterRevision: revision }, { timeoutMs });
  const { code, reason, domain } = await failing(all(feed));
  return { code, reason, domain };
}

export async function trace(run: Run) {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  let trailer = new Headers();
  await run.satchel.allocator.recall(recallRequest(run), {
    headers: { traceparent: `00-${traceId}-${spanId}-01`, "satchel-trace": "1" },
    onTrailer: (received) => void (trailer = received),
  });
  const { traceId: sent, spans } = decodeBinaryHeader(trailer.get("satchel-spans-bin") ?? "", TraceSpansSchema);
  const roots = spans.filter(({ parentSpanId }) => hex(parentSpanId) === spanId);
  const served = spans.filter(({ kind }) => kind === SpanKind.SERVER);
  return {
    same_trace: hex(sent) === traceId,
    under_the_caller: roots.length,
    root: roots[0]?.name ?? null,
    services: [...new Set(served.map(({ name }) => name.split("/")[0]))].sort(),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
