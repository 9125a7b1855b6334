/** What a failed call says about itself, in the terms of the contract. */

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import type { Status } from "./gen/google/rpc/status_pb.js";
import type { ErrorReason } from "./gen/satchel/api/errors/v1/error_reason_pb.js";

// By number; the transport's own enum spells some of them differently.
const CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** Name of a gRPC code, such as `NOT_FOUND`. */
export type CodeName = (typeof CODES)[number];

/** Name of a reason as the wire has it, such as `ERROR_REASON_MEMORY_NOT_FOUND`. */
export type ErrorReasonName = `ERROR_REASON_${keyof typeof ErrorReason}`;

/** A failed call, or a record of a stream that failed alone. */
export interface Failure {
  /** The gRPC code. */
  readonly code: CodeName;
  /** Why, or null when the error did not come from Satchel. A newer server may send a reason not listed here. */
  readonly reason: ErrorReasonName | null;
  /** `satchel`, or null when the error did not come from Satchel. */
  readonly domain: string | null;
  /** What `docs/errors.md` lists for the reason, such as `field` and `remedy`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** A sentence. */
  readonly message: string;
  /** Every field that was refused, and why. */
  readonly violations: readonly { readonly field: string; readonly description: string }[];
  /** Milliseconds after which the call may be made again, or null when the server named none. */
  readonly retryAfterMs: number | null;
}

type Find = <D extends DescMessage>(schema: D) => MessageShape<D> | undefined;

/** Reads what a call threw. Anything but an error of a call is `UNKNOWN`. */
export function failureOf(error: unknown): Failure {
  const failed = ConnectError.from(error);
  return describe(failed.code, failed.rawMessage, (schema) => failed.findDetails(schema)[0]);
}

/** Reads the status by which a stream refuses one record, such as `ImportMemoriesResponse.result.value`. */
export function failureOfStatus(status: Status): Failure {
  return describe(status.code, status.message, (schema) => {
    const found = status.details.map((detail) => anyUnpack(detail, schema));
    return found.find((detail) => detail !== undefined);
  });
}

function describe(code: number, message: string, find: Find): Failure {
  const info = find(ErrorInfoSchema);
  const delay = find(RetryInfoSchema)?.retryDelay;
  return {
    code: CODES[code] ?? "UNKNOWN",
    reason: (info?.reason ?? null) as ErrorReasonName | null,
    domain: info?.domain ?? null,
    metadata: info?.metadata ?? {},
    message,
    violations: (find(BadRequestSchema)?.fieldViolations ?? []).map(({ field, description }) => ({
      field,
      description,
    })),
    retryAfterMs: delay === undefined ? null : durationMs(delay),
  };
}
