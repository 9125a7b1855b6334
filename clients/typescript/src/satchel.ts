/** The entry point: one client for all services of a Satchel. */

import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { CallOptions, Client, Interceptor, Transport } from "@connectrpc/connect";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import { DEFAULT_ADDRESS, readAddresses, refuseInTheClear } from "./addresses.js";
import type { ServiceName } from "./addresses.js";
import { Health } from "./gen/grpc/health/v1/health_pb.js";
import { AllocatorService } from "./gen/satchel/api/allocator/v1/allocator_service_pb.js";
import type { RecallRequestSchema, RecallResponse } from "./gen/satchel/api/allocator/v1/allocator_service_pb.js";
import { EmbedderService } from "./gen/satchel/api/embedder/v1/embedder_service_pb.js";
import { IndexService } from "./gen/satchel/api/index/v1/index_service_pb.js";
import { ChangeService } from "./gen/satchel/api/store/v1/change_service_pb.js";
import type { WatchChangesRequestSchema, WatchChangesResponse } from "./gen/satchel/api/store/v1/change_service_pb.js";
import { MemoryService } from "./gen/satchel/api/store/v1/memory_service_pb.js";
import type {
  ListMemoriesRequestSchema,
  ListMemoriesResponse,
  StoreMemoryRequestSchema,
  StoreMemoryResponse,
} from "./gen/satchel/api/store/v1/memory_service_pb.js";
import { SearchService } from "./gen/satchel/api/store/v1/search_service_pb.js";
import type { Memory } from "./gen/satchel/api/types/v1/memory_pb.js";
import { withPolicy } from "./policy.js";

/** How to reach a Satchel, and how to call it. */
export interface SatchelOptions {
  /**
   * `HOST:PORT`, or `store=HOST:PORT,allocator=HOST:PORT,index=HOST:PORT,embedder=HOST:PORT` for services apart.
   * Default: the environment's `SATCHEL_URL`, else `127.0.0.1:50051`.
   */
  readonly url?: string | undefined;
  /** Project of every request that names none. Default: none, which most calls take as `default`. */
  readonly project?: string | undefined;
  /** Sent as metadata `authorization: Bearer KEY`; to another machine over `https://` only. */
  readonly apiKey?: string | undefined;
  /** Deadline in milliseconds of a call that is no stream and brings none. 0 for no deadline. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a call that may be repeated is made again after UNAVAILABLE. Default: 3. */
  readonly retries?: number | undefined;
  /** Milliseconds before the first retry; each later one waits twice as long. Default: 100. */
  readonly retryDelayMs?: number | undefined;
  /** Interceptors of your own, such as one for OpenTelemetry; they see every attempt. */
  readonly interceptors?: readonly Interceptor[] | undefined;
}

// A server that vanished without a word is noticed after at most 45 s, also by a quiet feed.
const PINGS = { pingIntervalMs: 30_000 };

type Fields<D extends DescMessage> = Omit<MessageInitShape<D>, "$typeName">;

/**
 * Clients of all services over one connection for each address, which opens at the first call and again when it broke.
 *
 * Every method takes `{ signal, timeoutMs, headers, onHeader, onTrailer }` as its last argument. Safe to share. The
 * constructor throws a `TypeError` for a `url` that cannot be read, and for a key that would leave this machine in
 * the clear.
 */
export class Satchel implements Disposable {
  /** Recall, search and allocation. */
  readonly allocator: Client<typeof AllocatorService>;
  /** The change feed. */
  readonly changes: Client<typeof ChangeService>;
  /** Texts to vectors. */
  readonly embedder: Client<typeof EmbedderService>;
  /** Health of the store's process. */
  readonly health: Client<typeof Health>;
  /** Nearest neighbours. */
  readonly index: Client<typeof IndexService>;
  /** Memories: store, read, change, delete, list, import, export. */
  readonly memories: Client<typeof MemoryService>;
  /** Search of the store alone. */
  readonly search: Client<typeof SearchService>;

  readonly #connections = new Map<string, Http2SessionManager>();
  readonly #closed = new AbortController();

  constructor(options: SatchelOptions = {}) {
    const transport = this.#open(options);
    this.allocator = createClient(AllocatorService, transport("allocator"));
    this.embedder = createClient(EmbedderService, transport("embedder"));
    this.index = createClient(IndexService, transport("index"));
    const store = transport("store");
    this.changes = createClient(ChangeService, store);
    this.health = createClient(Health, store);
    this.memories = createClient(MemoryService, store);
    this.search = createClient(SearchService, store);
  }

  /** Stores a text, in the wing `general` unless `fields` names another, and returns its id and revision. */
  remember(
    content: string,
    fields: Fields<typeof StoreMemoryRequestSchema> = {},
    options?: CallOptions,
  ): Promise<StoreMemoryResponse> {
    return this.memories.storeMemory({ wing: "general", ...fields, content }, options);
  }

  /**
   * Returns what is most useful for a question, in at most `fields.budget` tokens (default 4,000): `context` is the
   * string for the model. `fields.minRevision`, the `revision` of a write, makes that write visible.
   */
  recall(
    query: string,
    fields: Fields<typeof RecallRequestSchema> = {},
    options?: CallOptions,
  ): Promise<RecallResponse> {
    return this.allocator.recall({ ...fields, query }, options);
  }

  /** Yields every page of a listing; the deadline holds for each of them. */
  async *pages(
    request: MessageInitShape<typeof ListMemoriesRequestSchema> = {},
    options?: CallOptions,
  ): AsyncGenerator<ListMemoriesResponse> {
    let pageToken = "";
    do {
      const page = await this.memories.listMemories({ ...request, pageToken } as typeof request, options);
      yield page;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }

  /** Yields every memory of a listing, newest first, and fetches the pages as they are needed. */
  async *list(
    request: MessageInitShape<typeof ListMemoriesRequestSchema> = {},
    options?: CallOptions,
  ): AsyncGenerator<Memory> {
    for await (const page of this.pages(request, options)) yield* page.memories;
  }

  /** Yields the change feed until the loop is left, which cancels the call, or `options.signal` is aborted. */
  async *watch(
    request: MessageInitShape<typeof WatchChangesRequestSchema> = {},
    options: CallOptions = {},
  ): AsyncGenerator<WatchChangesResponse> {
    const left = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    try {
      yield* this.changes.watchChanges(request, { ...options, signal });
    } finally {
      left.abort();
    }
  }

  /** Closes the connections; calls that still run, and later ones, end with CANCELLED. */
  close(): void {
    this.#closed.abort();
    for (const connection of this.#connections.values()) connection.abort();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns what gives the transport of a service, over one connection for each address. */
  #open(options: SatchelOptions): (service: ServiceName) => Transport {
    const at = readAddresses(options.url || process.env["SATCHEL_URL"] || DEFAULT_ADDRESS);
    if (options.apiKey) refuseInTheClear(at);
    const interceptors = [...(options.interceptors ?? []), ...(options.apiKey ? [withKey(options.apiKey)] : [])];
    const policy = {
      project: options.project ?? "",
      timeoutMs: options.timeoutMs ?? 10_000,
      retries: options.retries ?? 3,
      retryDelayMs: options.retryDelayMs ?? 100,
      closed: this.#closed.signal,
    };
    return (service) => {
      const baseUrl = at[service];
      if (baseUrl === undefined) return unnamed(service);
      const sessionManager = this.#connections.get(baseUrl) ?? new Http2SessionManager(baseUrl, PINGS);
      this.#connections.set(baseUrl, sessionManager);
      return withPolicy(createGrpcTransport({ baseUrl, interceptors, sessionManager }), policy);
    };
  }
}

function unnamed(service: ServiceName): Transport {
  const refuse = (): never => {
    throw new ConnectError(`The address names no ${service}; add ${service}=HOST:PORT.`, Code.FailedPrecondition);
  };
  return { unary: async () => refuse(), stream: async () => refuse() };
}

function withKey(apiKey: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
}
