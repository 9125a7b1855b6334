/** The steps that store memories. */

import { randomUUID } from "node:crypto";
import { enumToJson, fromJson } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { EmbeddingStateSchema, MemoryTypeSchema, StoreMemoryRequestSchema, failureOfStatus } from "@satchel/client";
import { failing, member } from "./described.js";
import type { Run } from "./described.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function storeThree(run: Run) {
  const printed = [];
  for (const request of member<JsonObject[]>(run.described, "store_three", "requests")) {
    const memory = fromJson(StoreMemoryRequestSchema, { ...request, wing: run.wing });
    const answer = await run.satchel.memories.storeMemory(memory);
    run.stored.push({ content: memory.content, answer });
    printed.push({
      type: enumToJson(MemoryTypeSchema, answer.type),
      room: answer.room,
      duplicate: answer.duplicate,
      embedding: enumToJson(EmbeddingStateSchema, answer.embedding),
      token_count: answer.tokenCount,
      is_uuid: UUID.test(answer.id),
    });
  }
  return printed;
}

export async function storeByStream({ satchel, described, wing }: Run) {
  const records = member<JsonObject[]>(described, "store_by_stream", "requests");
  async function* requests() {
    for (const [at, record] of records.entries()) {
      const value = fromJson(StoreMemoryRequestSchema, { ...record, wing });
      yield { sequence: BigInt(at + 1), record: { case: "newMemory" as const, value } };
    }
  }
  const printed = [];
  for await (const { sequence, result } of satchel.memories.importMemories(requests())) {
    const failure = result.case === "error" ? failureOfStatus(result.value) : null;
    printed.push({
      sequence: Number(sequence),
      stored: result.case === "stored",
      code: failure?.code ?? null,
      reason: failure?.reason ?? null,
      field: failure?.metadata["field"] ?? null,
    });
  }
  return printed;
}

export async function sameRequestId(run: Run) {
  const [content, otherContent] = ["content", "other_content"].map((name) =>
    member<string>(run.described, "same_request_id", name),
  ) as [string, string];
  const store = run.satchel.memories.storeMemory;
  const shared = { wing: run.wing, requestId: randomUUID() };
  const first = await store({ ...shared, content });
  const second = await store({ ...shared, content });
  run.revision = first.revision;
  const failure = await failing(store({ ...shared, content: otherContent }));
  return {
    same_id: first.id === second.id,
    code: failure.code,
    reason: failure.reason,
    request_id_named: failure.metadata["request_id"] === shared.requestId,
  };
}
