/** Deadlines and retries of calls, over a transport that knows neither. */

import { setTimeout as after } from "node:timers/promises";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import { failureOf } from "./failure.js";
import { identified, inProject } from "./project.js";

/** How calls are made. */
export interface Policy {
  /** Project of requests that name none. Empty leaves them as they are. */
  readonly project: string;
  /** Deadline in milliseconds of a call that is no stream and brings none of its own. 0 for none. */
  readonly timeoutMs: number;
  /** Number of times that a call is made again. */
  readonly retries: number;
  /** Milliseconds before the first retry; each later one waits twice as long. Up to half of it is left off at random. */
  readonly retryDelayMs: number;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
}

/**
 * Returns a transport that makes the calls of another one by a policy.
 *
 * A call that is no stream is made again when the code is UNAVAILABLE, its deadline leaves time for it, and a repeat
 * cannot do anything twice: the contract says so, or the request carries a request id. One that has room for an id
 * gets one. Every attempt is told the time that is left. A stream has no deadline of its own and is opened once.
 */
export function withPolicy(inner: Transport, policy: Policy): Transport {
  return {
    async unary(method, signal, timeoutMs = policy.timeoutMs, header, input, context) {
      const { message, repeatable } = prepare(method, input, policy.project);
      const left = countdown(timeoutMs);
      for (let attempt = 0; ; attempt++) {
        try {
          refuseIf(policy.closed);
          return await inner.unary(method, signal, left(), header, message, context);
        } catch (error) {
          const failed = explained(error, signal, policy.closed);
          const again = repeatable && attempt < policy.retries && failed.code === Code.Unavailable;
          const delayMs = again ? delayBefore(attempt, failed, policy) : Infinity;
          if (delayMs >= (left() ?? Number.MAX_VALUE)) throw failed;
          await pause(delayMs, signal);
        }
      }
    },
    async stream(method, signal, timeoutMs, header, input, context) {
      try {
        refuseIf(policy.closed);
        const requests = claimed(method.input, input, policy.project);
        const response = await inner.stream(method, signal, timeoutMs, header, requests, context);
        return { ...response, message: explaining(response.message, signal, policy.closed) };
      } catch (error) {
        throw explained(error, signal, policy.closed);
      }
    },
  };
}

interface Prepared<I extends DescMessage> {
  readonly message: MessageInitShape<I>;
  readonly repeatable: boolean;
}

function prepare<I extends DescMessage>(
  method: DescMethodUnary<I>,
  input: MessageInitShape<I>,
  project: string,
): Prepared<I> {
  const message = inProject(method.input, input, project);
  if (method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN)
    return { message: message as MessageInitShape<I>, repeatable: true };
  const withId = identified(method.input, message);
  return { message: (withId ?? message) as MessageInitShape<I>, repeatable: withId !== undefined };
}

async function* claimed<I extends DescMessage>(
  schema: I,
  requests: AsyncIterable<MessageInitShape<I>>,
  project: string,
): AsyncGenerator<MessageInitShape<I>> {
  for await (const request of requests) yield inProject(schema, request, project) as MessageInitShape<I>;
}

/** Returns milliseconds to wait after an attempt: what the server asks for, or more. */
function delayBefore(attempt: number, failed: ConnectError, policy: Policy): number {
  const own = policy.retryDelayMs * 2 ** attempt * (1 - Math.random() / 2);
  return Math.max(own, failureOf(failed).retryAfterMs ?? 0);
}

/** Returns what is left of a time limit, at least 1 ms. No limit, 0 or less, has nothing to count. */
function countdown(timeoutMs: number): () => number | undefined {
  const end = performance.now() + timeoutMs;
  return () => (timeoutMs > 0 ? Math.max(1, Math.round(end - performance.now())) : undefined);
}

function refuseIf(closed: AbortSignal): void {
  if (closed.aborted) throw new ConnectError("This client is closed; open another one.", Code.Canceled);
}

/**
 * Returns the error of a call. When the connection breaks, the transport says CANCELLED or ABORTED, although nobody
 * cancelled and the server said nothing; to every other client of gRPC that is UNAVAILABLE, and so it is here.
 */
function explained(error: unknown, signal: AbortSignal | undefined, closed: AbortSignal): ConnectError {
  const failed = ConnectError.from(error);
  const broken = (failed.code === Code.Canceled || failed.code === Code.Aborted) && failed.details.length === 0;
  if (!broken || signal?.aborted || closed.aborted) return failed;
  return new ConnectError(`The connection broke: ${failed.rawMessage}`, Code.Unavailable, undefined, undefined, error);
}

async function* explaining<T>(
  responses: AsyncIterable<T>,
  signal: AbortSignal | undefined,
  closed: AbortSignal,
): AsyncGenerator<T> {
  try {
    yield* responses;
  } catch (error) {
    throw explained(error, signal, closed);
  }
}

/** Waits, or less when the call is cancelled meanwhile: then the next attempt says so. */
async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await after(delayMs, undefined, signal && { signal }).catch(() => undefined);
}
