import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { Satchel, failureOf, failureOfStatus, packVector, unpackVectors } from "@satchel/client";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "@satchel/client/gen/google/rpc/error_details_pb";
import { StatusSchema } from "@satchel/client/gen/google/rpc/status_pb";
import { readAddresses } from "../src/addresses.js";

test("a vector is packed with the lowest byte first", () => {
  assert.deepEqual([...packVector([1, -2])], [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
});

test("packed rows come back as they were, also from the middle of a buffer", () => {
  const rows = [Float32Array.of(0.25, -1, 3e-8), Float32Array.of(1, 2, 3)];
  const buffer = new Uint8Array(1 + 24);
  buffer.set(packVector(rows.flatMap((row) => [...row])), 1);

  assert.deepEqual(unpackVectors(buffer.subarray(1), 3), rows);
});

test("bytes that are not whole rows are refused", () => {
  assert.throws(() => unpackVectors(new Uint8Array(20), 4), RangeError);
  assert.throws(() => unpackVectors(new Uint8Array(20), 0), RangeError);
  assert.deepEqual(unpackVectors(new Uint8Array(), 0), []);
});

test("one address is that of every service", () => {
  const url = "http://[::1]:50051";
  assert.deepEqual(readAddresses("[::1]:50051"), { allocator: url, embedder: url, index: url, store: url });
});

test("an address may begin as in other tools", () => {
  assert.equal(readAddresses("grpc://localhost:1").store, "http://localhost:1");
});

test("a key is not sent to another machine in the clear", () => {
  const open = (url: string) => new Satchel({ url, apiKey: "secret" });
  for (const url of ["[::1]:1", "localhost:1", "127.0.0.1:1", "https://satchel.example:443"]) open(url);
  assert.throws(() => open("store=localhost:1,index=127.example:1"), TypeError);
});

test("calls to a service that the address leaves out fail and say what to add", async () => {
  const satchel = new Satchel({ url: "store=127.0.0.1:1" });
  await assert.rejects(satchel.recall("?"), /add allocator=HOST:PORT/);
});

test("services apart have an address each, and may have TLS", () => {
  assert.deepEqual(readAddresses("embedder=a:1,store=https://b:2,index=c:3,allocator=d:4"), {
    embedder: "http://a:1",
    store: "https://b:2",
    index: "http://c:3",
    allocator: "http://d:4",
  });
});

for (const text of ["localhost", "a:1,b:2", "cache=a:1", "store=a:1,index=b", "unix:/tmp/socket"]) {
  test(`the address ${text} is refused before any call`, () => {
    assert.throws(() => new Satchel({ url: text }), TypeError);
  });
}

test("an error shows its code, reason, metadata, every violation and when to come back", () => {
  const error = new ConnectError("content is blank", Code.InvalidArgument, undefined, [
    {
      desc: ErrorInfoSchema,
      value: { reason: "ERROR_REASON_FIELD_BLANK", domain: "satchel", metadata: { field: "content" } },
    },
    { desc: BadRequestSchema, value: { fieldViolations: [{ field: "content", description: "is blank" }] } },
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 1n, nanos: 500_000_000 } } },
  ]);

  assert.deepEqual(failureOf(error), {
    code: "INVALID_ARGUMENT",
    reason: "ERROR_REASON_FIELD_BLANK",
    domain: "satchel",
    metadata: { field: "content" },
    message: "content is blank",
    violations: [{ field: "content", description: "is blank" }],
    retryAfterMs: 1500,
  });
});

test("the status of one record of a stream is read like the error of a call", () => {
  const info = create(ErrorInfoSchema, {
    reason: "ERROR_REASON_PATH_TAKEN",
    domain: "satchel",
    metadata: { path: "a/b" },
  });
  const status = create(StatusSchema, {
    code: Code.AlreadyExists,
    message: "taken",
    details: [anyPack(ErrorInfoSchema, info)],
  });

  const { code, reason, metadata } = failureOfStatus(status);

  assert.deepEqual(
    { code, reason, metadata },
    { code: "ALREADY_EXISTS", reason: "ERROR_REASON_PATH_TAKEN", metadata: { path: "a/b" } },
  );
});

test("codes have the names that gRPC gives them", () => {
  const named = (code: Code) => failureOf(new ConnectError("", code)).code;

  assert.equal(named(Code.Canceled), "CANCELLED");
  assert.equal(named(Code.Unauthenticated), "UNAUTHENTICATED");
  assert.equal(failureOf(new TypeError("no")).code, "UNKNOWN");
  assert.equal(failureOf(new TypeError("no")).reason, null);
});
