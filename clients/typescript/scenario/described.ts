/** What the scenario describes, what its steps share, and the small things that several of them need. */

import type { JsonObject } from "@bufbuild/protobuf";
import { failureOf } from "@satchel/client";
import type { Failure, Satchel, StoreMemoryResponse } from "@satchel/client";

/** `clients/scenario.json`, as far as this runner reads it. */
export interface Scenario {
  readonly wing: string;
  readonly steps: readonly (JsonObject & { readonly name: string })[];
}

/** What the steps share. */
export interface Run {
  readonly satchel: Satchel;
  readonly wing: string;
  readonly described: Scenario;
  /** Answers of `store_three`, with the texts. */
  readonly stored: { readonly content: string; readonly answer: StoreMemoryResponse }[];
  /** Revision of the last stored memory. */
  revision: bigint;
}

/** Makes the calls of one step and returns what the scenario prints of them. */
export type Step = (run: Run) => Promise<unknown>;

/** Returns a member of a step, which must be there. */
export function member<T>({ steps }: Scenario, step: string, name: string): T {
  const value = steps.find((described) => described.name === step)?.[name];
  if (value === undefined) throw new Error(`The scenario's step ${step} has no ${name}.`);
  return value as T;
}

/** Returns why a call failed. Throws when it did not. */
export async function failing(call: Promise<unknown>): Promise<Failure> {
  try {
    await call;
  } catch (error) {
    return failureOf(error);
  }
  throw new Error("A call that must fail did not.");
}

/** Reads a stream to its end. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
