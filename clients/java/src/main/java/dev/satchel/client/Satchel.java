package dev.satchel.client;

import dev.satchel.api.allocator.v1.AllocatorServiceGrpc;
import dev.satchel.api.allocator.v1.AllocatorServiceGrpc.AllocatorServiceBlockingStub;
import dev.satchel.api.embedder.v1.EmbedderServiceGrpc;
import dev.satchel.api.embedder.v1.EmbedderServiceGrpc.EmbedderServiceBlockingStub;
import dev.satchel.api.store.v1.ChangeServiceGrpc;
import dev.satchel.api.store.v1.ChangeServiceGrpc.ChangeServiceBlockingStub;
import dev.satchel.api.store.v1.ImportMemoriesRequest;
import dev.satchel.api.store.v1.ImportMemoriesResponse;
import dev.satchel.api.store.v1.ListMemoriesRequest;
import dev.satchel.api.store.v1.ListMemoriesResponse;
import dev.satchel.api.store.v1.MemoryServiceGrpc;
import dev.satchel.api.store.v1.MemoryServiceGrpc.MemoryServiceBlockingStub;
import dev.satchel.api.store.v1.WatchChangesRequest;
import dev.satchel.api.store.v1.WatchChangesResponse;
import dev.satchel.api.types.v1.Memory;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A connection to Satchel: the generated stubs, with deadlines, retries, key and project set.
 *
 * <p>Connecting happens at the first call. Safe to share between threads; make one, and close it at
 * the end. Stubs and methods throw {@link io.grpc.StatusRuntimeException}, which {@link
 * SatchelException#of(io.grpc.StatusRuntimeException)} decodes.
 */
public final class Satchel implements AutoCloseable {
  /** Where {@code satchel up} listens. */
  public static final String DEFAULT_URL = "127.0.0.1:50051";

  /** Time that a unary call may take. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

  // The server sends up to 64 MiB, gRPC takes 4 MiB unless told otherwise.
  private static final int MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
  private static final long CLOSE_LIMIT_S = 5;

  private final Map<Part, Channel> channels = new EnumMap<>(Part.class);
  private final Collection<ManagedChannel> connections;

  private Satchel(Builder options) {
    Map<Part, String> addresses = Addresses.parse(options.url);
    Map<String, ManagedChannel> byAddress = new HashMap<>();
    CallDefaults defaults = new CallDefaults(options.timeout, options.apiKey, options.project);
    addresses.forEach(
        (part, address) -> {
          ManagedChannel connection =
              byAddress.computeIfAbsent(address, target -> connect(target, options.credentials));
          channels.put(part, ClientInterceptors.intercept(connection, defaults));
        });
    connections = byAddress.values();
  }

  private static ManagedChannel connect(String address, ChannelCredentials credentials) {
    return Grpc.newChannelBuilder("dns:///" + address, credentials)
        .defaultServiceConfig(RetryPolicy.serviceConfig())
        .defaultLoadBalancingPolicy("round_robin")
        .enableRetry()
        .maxInboundMessageSize(MAX_MESSAGE_BYTES)
        // A server that vanished without a word is noticed after at most 40 s, also by a quiet feed.
        .keepAliveTime(30, TimeUnit.SECONDS)
        .keepAliveTimeout(10, TimeUnit.SECONDS)
        .build();
  }

  /** Opens the Satchel at {@code SATCHEL_URL}, or else the one that runs on this machine. */
  public static Satchel open() {
    return builder().build();
  }

  /** Returns the options of a new connection. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the stub that stores, reads, lists and deletes memories. */
  public MemoryServiceBlockingStub memories() {
    return MemoryServiceGrpc.newBlockingStub(channel(Part.STORE));
  }

  /** Returns the stub that recalls under a budget, searches and packs. */
  public AllocatorServiceBlockingStub allocator() {
    return AllocatorServiceGrpc.newBlockingStub(channel(Part.ALLOCATOR));
  }

  /** Returns the stub that turns texts into vectors; {@link Vectors} reads them. */
  public EmbedderServiceBlockingStub embedder() {
    return EmbedderServiceGrpc.newBlockingStub(channel(Part.EMBEDDER));
  }

  /** Returns the stub of the change feed; {@link #watch} reads it so that it can be stopped. */
  public ChangeServiceBlockingStub changes() {
    return ChangeServiceGrpc.newBlockingStub(channel(Part.STORE));
  }

  /**
   * Returns the channel of a part, for stubs of other services and kinds: {@code
   * SearchServiceGrpc.newFutureStub(satchel.channel(Part.STORE))}.
   *
   * @throws IllegalStateException when the URL names other parts only
   */
  public Channel channel(Part part) {
    Channel channel = channels.get(part);
    if (channel == null) {
      throw new IllegalStateException(
          "No address of the %s is known. Add %1$s=HOST:PORT to the URL.".formatted(part.label()));
    }
    return channel;
  }

  /**
   * Returns the pages from the request's token to the end: the first one now, the others as the
   * stream gets there.
   */
  public Stream<ListMemoriesResponse> pages(ListMemoriesRequest request) {
    return Stream.iterate(
        memories().listMemories(request), Objects::nonNull, page -> pageAfter(page, request));
  }

  private ListMemoriesResponse pageAfter(ListMemoriesResponse page, ListMemoriesRequest request) {
    String token = page.getNextPageToken();
    return token.isEmpty()
        ? null
        : memories().listMemories(request.toBuilder().setPageToken(token).build());
  }

  /** Returns the memories of all {@link #pages}, newest first. */
  public Stream<Memory> list(ListMemoriesRequest request) {
    return pages(request).flatMap(page -> page.getMemoriesList().stream());
  }

  /**
   * Imports records over one stream and waits until all are answered.
   *
   * <p>A record that is refused is answered with its error, and the others go on. Records are taken
   * one by one, as the connection has room.
   *
   * @param records the records; number them in {@code sequence} to know the answers apart
   * @param answers is given each answer in the order of the records, on a thread of gRPC
   */
  public void importMemories(
      Iterable<ImportMemoriesRequest> records, Consumer<ImportMemoriesResponse> answers) {
    Import running = new Import(records.iterator(), answers);
    MemoryServiceGrpc.newStub(channel(Part.STORE)).importMemories(running);
    running.await();
  }

  /** Opens the change feed. It never ends by itself: close the stream. */
  public ServerStream<WatchChangesResponse> watch(WatchChangesRequest request) {
    return ServerStream.open(() -> changes().watchChanges(request));
  }

  /** Ends the connections; calls that are under way get five seconds to end. */
  @Override
  public void close() {
    connections.forEach(ManagedChannel::shutdown);
    try {
      for (ManagedChannel connection : connections) {
        connection.awaitTermination(CLOSE_LIMIT_S, TimeUnit.SECONDS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      connections.forEach(ManagedChannel::shutdownNow);
    }
  }

  /** Options of a connection; each has a default. */
  public static final class Builder {
    private String url = Optional.ofNullable(System.getenv("SATCHEL_URL")).orElse(DEFAULT_URL);
    private String apiKey = "";
    private String project = "";
    private Duration timeout = DEFAULT_TIMEOUT;
    private ChannelCredentials credentials = InsecureChannelCredentials.create();

    private Builder() {}

    /**
     * Sets where Satchel is: {@code HOST:PORT}, or the parts that are used, as in {@code
     * store=HOST:PORT,allocator=HOST:PORT}. Default: {@code SATCHEL_URL}, else {@link
     * #DEFAULT_URL}.
     */
    public Builder url(String url) {
      this.url = Objects.requireNonNull(url);
      return this;
    }

    /** Sets the API key that every call carries. Default: none. */
    public Builder apiKey(String apiKey) {
      this.apiKey = Objects.requireNonNull(apiKey);
      return this;
    }

    /** Sets the project of every request that names none. Default: the server decides. */
    public Builder project(String project) {
      this.project = Objects.requireNonNull(project);
      return this;
    }

    /**
     * Sets how long a unary call may take whose stub has no deadline of its own. Default: {@link
     * #DEFAULT_TIMEOUT}. Streams have none.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = Objects.requireNonNull(timeout);
      return this;
    }

    /** Encrypts the connection, for a proxy that terminates TLS. Default: in the clear. */
    public Builder tls() {
      this.credentials = TlsChannelCredentials.create();
      return this;
    }

    /**
     * Opens the connection.
     *
     * @throws IllegalArgumentException when the URL cannot be read
     */
    public Satchel build() {
      return new Satchel(this);
    }
  }
}
