import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { AllocatorService, ChangeService, MemoryService, failureOf } from "@satchel/client";
import { RetryInfoSchema } from "@satchel/client/gen/google/rpc/error_details_pb";
import { IndexService } from "@satchel/client/gen/satchel/api/index/v1/index_service_pb";
import { SearchService } from "@satchel/client/gen/satchel/api/store/v1/search_service_pb";
import { serve } from "./server.js";

const unavailable = () => new ConnectError("not now", Code.Unavailable);
const codeOf = (error: unknown) => failureOf(error).code;

test("a read is made again after UNAVAILABLE", async () => {
  let calls = 0;
  await using running = await serve((router) =>
    router.rpc(AllocatorService.method.recall, () => {
      if (++calls < 3) throw unavailable();
      return { context: "found" };
    }),
  );

  assert.equal((await running.satchel.recall("?")).context, "found");
  assert.equal(calls, 3);
});

test("a write is made again under the same request id, and another write has another one", async () => {
  const ids: string[] = [];
  await using running = await serve((router) =>
    router.rpc(MemoryService.method.storeMemory, ({ requestId }) => {
      ids.push(requestId);
      if (ids.length === 1) throw unavailable();
      return {};
    }),
  );

  await running.satchel.remember("once");
  await running.satchel.remember("twice");

  assert.match(ids[0] ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(ids[1], ids[0]);
  assert.notEqual(ids[2], ids[0]);
});

test("a request id of the caller's own is sent", async () => {
  const requestId = "5b0f6f36-4b8e-4a55-9f0e-7f6a3c1d2e4b";
  let sent = "";
  await using running = await serve((router) =>
    router.rpc(MemoryService.method.storeMemory, (request) => {
      sent = request.requestId;
      return {};
    }),
  );

  await running.satchel.remember("once", { requestId });

  assert.equal(sent, requestId);
});

test("a change without a request id is made once, since a repeat could do it twice", async () => {
  let calls = 0;
  await using running = await serve((router) =>
    router.rpc(IndexService.method.rebuildIndex, () => {
      calls++;
      throw unavailable();
    }),
  );

  await assert.rejects(running.satchel.index.rebuildIndex({}), (error) => codeOf(error) === "UNAVAILABLE");
  assert.equal(calls, 1);
});

test("a retry is told the time that is left", async () => {
  const limits: number[] = [];
  const options = { timeoutMs: 5_000, retryDelayMs: 20 };
  await using running = await serve(
    (router) =>
      router.rpc(AllocatorService.method.recall, (_, context) => {
        limits.push(Number.parseInt(context.requestHeader.get("grpc-timeout") ?? "", 10));
        if (limits.length === 1) throw unavailable();
        return {};
      }),
    options,
  );

  await running.satchel.recall("?");

  const [first = 0, second = 0] = limits;
  assert.ok(first <= 5_000 && second < first - 5 && second > 0, `${first} ${second}`);
});

test("no other code is answered by a retry", async () => {
  let calls = 0;
  await using running = await serve((router) =>
    router.rpc(AllocatorService.method.recall, () => {
      calls++;
      throw new ConnectError("full", Code.ResourceExhausted);
    }),
  );

  await assert.rejects(running.satchel.recall("?"), (error) => codeOf(error) === "RESOURCE_EXHAUSTED");
  assert.equal(calls, 1);
});

test("retries end after the number that was asked for", async () => {
  let calls = 0;
  const routes = (call: () => never) =>
    serve((router) => router.rpc(AllocatorService.method.recall, call), { retries: 2 });
  await using running = await routes(() => {
    calls++;
    throw unavailable();
  });

  await assert.rejects(running.satchel.recall("?"), (error) => codeOf(error) === "UNAVAILABLE");
  assert.equal(calls, 3);
});

test("a call whose deadline comes before the retry that the server asks for ends with the server's error", async () => {
  let calls = 0;
  const later = [{ desc: RetryInfoSchema, value: { retryDelay: { seconds: 60n } } }];
  await using running = await serve((router) =>
    router.rpc(AllocatorService.method.recall, () => {
      calls++;
      throw new ConnectError("stopping", Code.Unavailable, undefined, later);
    }),
  );

  await assert.rejects(running.satchel.recall("?"), (error) => codeOf(error) === "UNAVAILABLE");
  assert.equal(calls, 1);
});

test("a call is sent with the default deadline, its own, or none for 0; a stream with none", async () => {
  const limits: (number | undefined)[] = [];
  await using running = await serve((router) => {
    router.rpc(AllocatorService.method.recall, (_, context) => {
      limits.push(context.timeoutMs());
      return {};
    });
    router.rpc(ChangeService.method.watchChanges, async function* (_, context) {
      limits.push(context.timeoutMs());
    });
  });

  await running.satchel.recall("?");
  await running.satchel.recall("?", {}, { timeoutMs: 60_000 });
  await running.satchel.recall("?", {}, { timeoutMs: 0 });
  for await (const _ of running.satchel.watch()) assert.fail("nothing was sent");

  const [first = 0, second = 0, ...none] = limits;
  assert.ok(first > 5_000 && first <= 10_000, `${first}`);
  assert.ok(second > 50_000 && second <= 60_000, `${second}`);
  assert.deepEqual(none, [undefined, undefined]);
});

test("a broken connection is UNAVAILABLE, and a read goes on over the next one", async () => {
  let calls = 0;
  await using running = await serve((router) => {
    router.rpc(AllocatorService.method.recall, async (_, context) => {
      if (++calls === 1) {
        running.breakConnections();
        await once(context.signal, "abort");
      }
      return { context: "found" };
    });
    router.rpc(ChangeService.method.watchChanges, async function* (_, context) {
      yield {};
      await once(context.signal, "abort");
    });
  });

  assert.equal((await running.satchel.recall("?")).context, "found");
  assert.equal(calls, 2);
  const feed = running.satchel.watch();
  await feed.next();
  running.breakConnections();
  await assert.rejects(feed.next(), (error) => codeOf(error) === "UNAVAILABLE");
});

test("leaving the loop over the change feed cancels the call", { timeout: 10_000 }, async () => {
  const stream = new EventEmitter();
  await using running = await serve((router) =>
    router.rpc(ChangeService.method.watchChanges, async function* (_, context) {
      context.signal.addEventListener("abort", () => stream.emit("ended"));
      yield {};
      await once(stream, "ended");
    }),
  );
  const ended = once(stream, "ended");

  for await (const _ of running.satchel.watch()) break;

  await ended;
});

test("a call that its signal aborts is CANCELLED and not made again", async () => {
  let calls = 0;
  const stop = new AbortController();
  await using running = await serve((router) =>
    router.rpc(AllocatorService.method.recall, async (_, context) => {
      calls++;
      stop.abort();
      await once(context.signal, "abort");
      return {};
    }),
  );

  await assert.rejects(
    running.satchel.recall("?", {}, { signal: stop.signal }),
    (error) => codeOf(error) === "CANCELLED",
  );
  assert.equal(calls, 1);
});

test("closing ends running calls and later ones with CANCELLED", async () => {
  let calls = 0;
  await using running = await serve((router) =>
    router.rpc(AllocatorService.method.recall, async (_, context) => {
      calls++;
      running.satchel.close();
      await once(context.signal, "abort");
      return {};
    }),
  );

  for (let n = 0; n < 2; n++)
    await assert.rejects(running.satchel.recall("?"), (error) => codeOf(error) === "CANCELLED");
  assert.equal(calls, 1);
});

test("the key goes with every call", async () => {
  let sent: string | null = null;
  const options = { apiKey: "secret" };
  await using running = await serve(
    (router) =>
      router.rpc(AllocatorService.method.recall, (_, context) => {
        sent = context.requestHeader.get("authorization");
        return {};
      }),
    options,
  );

  await running.satchel.recall("?");

  assert.equal(sent, "Bearer secret");
});

test("the client's project is in every request that names none: alone, in a batch, in a stream and in a filter", async () => {
  const seen: (string | undefined)[] = [];
  const options = { project: "mine" };
  await using running = await serve((router) => {
    router.rpc(MemoryService.method.storeMemory, ({ project }) => (seen.push(project), {}));
    router.rpc(MemoryService.method.batchStoreMemories, ({ memories }) => {
      seen.push(...memories.map(({ project }) => project));
      return {};
    });
    router.rpc(MemoryService.method.importMemories, async function* (requests) {
      for await (const { record } of requests) seen.push(record.value?.project);
    });
    router.rpc(SearchService.method.searchText, ({ filter }) => (seen.push(filter?.project), {}));
    router.rpc(MemoryService.method.exportMemories, async function* ({ project }) {
      seen.push(project);
    });
  }, options);
  const { memories, search } = running.satchel;
  async function* records() {
    yield { record: { case: "newMemory" as const, value: { content: "c" } } };
    yield { record: { case: "memory" as const, value: { content: "d", project: "theirs" } } };
  }

  await memories.storeMemory({ content: "a" });
  await memories.batchStoreMemories({ memories: [{ content: "b" }, { content: "b", project: "theirs" }] });
  for await (const _ of memories.importMemories(records())) assert.fail("nothing was sent");
  await search.searchText({ query: "a" });
  for await (const _ of memories.exportMemories({ allProjects: true })) assert.fail("nothing was sent");

  assert.deepEqual(seen, ["mine", "mine", "theirs", "mine", "theirs", "mine", ""]);
});

test("filling in leaves the caller's request as it was", async () => {
  const request = { content: "a", wing: "w" };
  const options = { project: "mine" };
  await using running = await serve((router) => router.rpc(MemoryService.method.storeMemory, () => ({})), options);

  await running.satchel.memories.storeMemory(request);

  assert.deepEqual(request, { content: "a", wing: "w" });
});

test("a listing is read to its end, page by page", async () => {
  await using running = await serve((router) =>
    router.rpc(MemoryService.method.listMemories, ({ pageToken, wing }) => {
      const at = Number(pageToken || "0");
      return { memories: [{ id: `${wing}${at}` }], nextPageToken: at < 2 ? `${at + 1}` : "" };
    }),
  );
  const ids: string[] = [];

  for await (const memory of running.satchel.list({ wing: "w" })) ids.push(memory.id);

  assert.deepEqual(ids, ["w0", "w1", "w2"]);
});
