/** The steps that search, pack, embed, list and watch. */

import { enumToJson, fromJson } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import * as api from "@satchel/client";
import { HealthCheckResponse_ServingStatusSchema } from "@satchel/client/gen/grpc/health/v1/health_pb";
import { all, failing, member } from "./described.js";
import type { Run } from "./described.js";

export async function health({ satchel, described }: Run) {
  const { service } = member<{ service: string }>(described, "health", "request");
  const answer = await satchel.health.check({ service });
  return { status: enumToJson(HealthCheckResponse_ServingStatusSchema, answer.status) };
}

export async function recall(run: Run) {
  const [first] = run.stored;
  const request = recallRequest(run);
  const answer = await run.satchel.allocator.recall(request);
  const [best] = answer.memories;
  return {
    first_mode: best === undefined ? null : enumToJson(api.RenderModeSchema, best.mode),
    first_is_stored: best !== undefined && best.id === first?.answer.id,
    in_context: first !== undefined && answer.context.includes(first.content),
    within_budget: answer.totalTokens <= request.budget,
    receipt_agrees: answer.totalTokens > 0 && answer.totalTokens === answer.receipt?.totalTokens,
    encoding: answer.receipt?.encoding,
    degraded: answer.receipt?.degraded.map((part) => enumToJson(api.PartSchema, part)),
  };
}

export async function search(run: Run) {
  const request = fromJson(api.SearchMemoriesRequestSchema, member(run.described, "search", "request"));
  const answer = await run.satchel.allocator.searchMemories({ ...request, wing: run.wing, minRevision: run.revision });
  return answer.results.map(({ content, type, room }) => ({
    content,
    type: enumToJson(api.MemoryTypeSchema, type),
    room,
  }));
}

export async function allocate({ satchel, described }: Run) {
  const { candidates, ...request } = member<{ candidates: JsonObject[] } & JsonObject>(
    described,
    "allocate",
    "request",
  );
  const own = candidates.map(({ vector_axis: axis, ...candidate }) => {
    const message = fromJson(api.CandidateSchema, candidate);
    message.vector = api.packVector([0, 1, 2, 3].map((at) => (at === axis ? 1 : 0)));
    return message;
  });
  const answer = await satchel.allocator.allocate({ ...fromJson(api.AllocateRequestSchema, request), candidates: own });
  return {
    context: answer.context,
    ids: answer.memories.map(({ id }) => id),
    total_tokens: answer.totalTokens,
    collapsed_count: answer.receipt?.collapsedCount,
    selected_count: answer.receipt?.selectedCount,
  };
}

export async function embed({ satchel, described }: Run) {
  const request = fromJson(api.EmbedTextsRequestSchema, member(described, "embed", "request"));
  const answer = await satchel.embedder.embedTexts(request);
  const rows = api.unpackVectors(answer.vectors, answer.dimension);
  const [first = new Float32Array(), second = first] = rows;
  return {
    count: answer.count,
    dimension: answer.dimension,
    byte_length: answer.vectors.length,
    norms: rows.map((row) => decimals(Math.sqrt(dot(row, row)), 4)),
    first: [...first.subarray(0, 3)].map((value) => decimals(value, 2)),
    cosine: decimals(dot(first, second), 2),
    passages: answer.spans.map(({ textIndex, start, end }) => ({ text_index: textIndex, start, end })),
  };
}

export async function list({ satchel, described, wing }: Run) {
  const [pageSize, otherPageSize] = ["page_size", "other_page_size"].map((name) =>
    member<number>(described, "list", name),
  ) as [number, number];
  const pages = await all(satchel.pages({ wing, pageSize }));
  const memories = pages.flatMap((page) => page.memories);
  const pageToken = pages[0]?.nextPageToken ?? "";
  const failure = await failing(satchel.memories.listMemories({ wing, pageSize: otherPageSize, pageToken }));
  return {
    pages: pages.map((page) => page.memories.length),
    contents: memories.map(({ content }) => content).sort(byCodePoint),
    unique: new Set(memories.map(({ id }) => id)).size === memories.length,
    code: failure.code,
    reason: failure.reason,
    field: failure.metadata["field"] ?? null,
  };
}

export async function watch({ satchel, stored, revision }: Run) {
  const id = stored[1]?.answer.id ?? "";
  const stop = new AbortController();
  const feed = satchel.changes
    .watchChanges({ afterRevision: revision }, { signal: stop.signal })
    [Symbol.asyncIterator]();
  const first = await feed.next();
  const deleted = await satchel.memories.deleteMemory({ id });
  let changes: api.Change[] = [];
  while (changes.length === 0) {
    const { done, value } = await feed.next();
    if (done) throw new Error("The feed ended before the change came.");
    changes = value.changes;
  }
  const [change] = changes;
  stop.abort();
  return {
    first_is_empty: !first.done && first.value.changes.length === 0,
    kind: enumToJson(api.ChangeKindSchema, change?.kind ?? api.ChangeKind.UNSPECIFIED),
    is_the_memory: change?.memoryId === id,
    revision_agrees: change?.revision === deleted.revision,
    code: (await failing(feed.next())).code,
  };
}

/** Returns the request of the step `recall`, which the step `trace` makes again. */
export function recallRequest({ described, wing, revision }: Run): api.RecallRequest {
  const request = fromJson(api.RecallRequestSchema, member(described, "recall", "request"));
  return Object.assign(request, { wing, minRevision: revision });
}

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

function decimals(value: number, digits: number): string {
  return value.toFixed(digits).replace(/^-(?=[0.]*$)/, "");
}

function byCodePoint(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right)); // the order of UTF-8 is that of code points
}
