/**
 * Client of Satchel. The stubs that most programs need are here too; the others are under `@satchel/client/gen/`,
 * such as `@satchel/client/gen/satchel/api/index/v1/index_service_pb`.
 */

export { DEFAULT_ADDRESS } from "./addresses.js";
export { failureOf, failureOfStatus } from "./failure.js";
export type { CodeName, ErrorReasonName, Failure } from "./failure.js";
export { Satchel } from "./satchel.js";
export type { SatchelOptions } from "./satchel.js";
export { packVector, unpackVectors } from "./vectors.js";
export * from "./gen/satchel/api/allocator/v1/allocator_service_pb.js";
export * from "./gen/satchel/api/embedder/v1/embedder_service_pb.js";
export * from "./gen/satchel/api/errors/v1/error_reason_pb.js";
export * from "./gen/satchel/api/store/v1/change_service_pb.js";
export * from "./gen/satchel/api/store/v1/memory_service_pb.js";
export * from "./gen/satchel/api/types/v1/memory_pb.js";
export * from "./gen/satchel/api/types/v1/model_pb.js";
export * from "./gen/satchel/api/types/v1/scope_pb.js";
export * from "./gen/satchel/api/types/v1/trace_pb.js";
