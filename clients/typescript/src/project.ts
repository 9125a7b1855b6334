/** Puts the client's project, and an id of the request, where a request leaves them empty. */

import { randomUUID } from "node:crypto";
import { ScalarType, clone, create } from "@bufbuild/protobuf";
import type { DescField, DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { MemoryFilterSchema } from "./gen/satchel/api/types/v1/scope_pb.js";

/**
 * Returns a copy of the request in which every `project` that is empty is the given one, also those of filters, of
 * batches and of records; one that asks for all projects stays as it is. An empty project changes nothing.
 */
export function inProject<D extends DescMessage>(
  schema: D,
  request: MessageInitShape<D>,
  project: string,
): MessageShape<D> {
  const message = create(schema, request);
  if (project === "") return message;
  const copy = clone(schema, message);
  claim(reflect(schema, copy), project);
  return copy;
}

/** Returns the request with a `request_id`: its own, else a new one. Undefined when its message has no such field. */
export function identified<D extends DescMessage>(schema: D, message: MessageShape<D>): MessageShape<D> | undefined {
  const field = schema.field["requestId"];
  if (field === undefined) return undefined;
  if (reflect(schema, message).isSet(field)) return message;
  const copy = clone(schema, message);
  reflect(schema, copy).set(field, randomUUID());
  return copy;
}

function claim(target: ReflectMessage, project: string): void {
  const all = target.desc.field["allProjects"];
  if (all !== undefined && target.isSet(all)) return;
  for (const field of target.fields) {
    if (isProject(field) && !target.isSet(field)) target.set(field, project);
    for (const part of parts(target, field)) claim(part, project);
  }
}

function isProject(field: DescField): boolean {
  return field.name === "project" && field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
}

function* parts(target: ReflectMessage, field: DescField): Generator<ReflectMessage> {
  if (field.message === undefined || !field.message.typeName.startsWith("satchel.")) return;
  if (field.fieldKind === "list") yield* target.get(field) as Iterable<ReflectMessage>;
  if (field.fieldKind !== "message") return;
  // A search without a filter searches the project `default`.
  if (field.message === MemoryFilterSchema && !target.isSet(field)) target.set(field, reflect(MemoryFilterSchema));
  if (target.isSet(field)) yield target.get(field);
}
