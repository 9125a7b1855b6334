/** Calls per second and median latency of three RPCs: sequential calls over one connection. */

import { randomUUID } from "node:crypto";
import { TextRole } from "@satchel/client";
import type { Satchel } from "@satchel/client";

const WARM_UP_CALLS = 20;

/** What was measured of one RPC. */
export interface Measured {
  readonly calls_per_second: number;
  readonly median_ms: number;
}

/** Makes each call for the given seconds, after a warm-up; every call sends another text of about 12 words. */
export async function measure(satchel: Satchel, seconds: number): Promise<Record<string, Measured>> {
  const wing = "bench";
  const question = (text: string) => `Is this right? ${text}`;
  return {
    EmbedTexts: await timed(seconds, (text) => satchel.embedder.embedTexts({ texts: [text], role: TextRole.PASSAGE })),
    StoreMemory: await timed(seconds, (text) => satchel.memories.storeMemory({ wing, content: text })),
    Recall: await timed(seconds, (text) => satchel.allocator.recall({ wing, query: question(text), budget: 1000 })),
  };
}

async function timed(seconds: number, call: (text: string) => Promise<unknown>): Promise<Measured> {
  const run = randomUUID().slice(0, 8);
  const text = (n: number) => `Order ${n} of ${run} left the bakery at noon with ${n % 97} loaves of bread.`;
  for (let n = 0; n < WARM_UP_CALLS; n++) await call(text(n));
  const latencies: number[] = [];
  const began = performance.now();
  const end = began + seconds * 1000;
  for (let now = began; now < end;) {
    await call(text(WARM_UP_CALLS + latencies.length));
    const after = performance.now();
    latencies.push(after - now);
    now = after;
  }
  const perSecond = (latencies.length * 1000) / (performance.now() - began);
  return { calls_per_second: round(perSecond, 1), median_ms: round(median(latencies), 3) };
}

function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
