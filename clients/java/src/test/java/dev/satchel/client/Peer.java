package dev.satchel.client;

import dev.satchel.api.store.v1.ChangeServiceGrpc;
import dev.satchel.api.store.v1.ImportMemoriesRequest;
import dev.satchel.api.store.v1.ImportMemoriesResponse;
import dev.satchel.api.store.v1.ListMemoriesRequest;
import dev.satchel.api.store.v1.ListMemoriesResponse;
import dev.satchel.api.store.v1.MemoryServiceGrpc;
import dev.satchel.api.store.v1.StoreMemoryRequest;
import dev.satchel.api.store.v1.StoreMemoryResponse;
import dev.satchel.api.store.v1.WatchChangesRequest;
import dev.satchel.api.store.v1.WatchChangesResponse;
import dev.satchel.api.types.v1.Memory;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A store on a loopback port that keeps nothing but what it was sent. */
final class Peer implements AutoCloseable {
  /** One request with what came beside it; a deadline or key that did not come is null. */
  record Received(Object request, Deadline deadline, String authorization) {}

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> KEY = Context.key("authorization");

  final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  final AtomicInteger failuresToCome = new AtomicInteger();
  final CountDownLatch cancelled = new CountDownLatch(1);
  private final Server server;

  Peer() throws IOException {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new Memories())
            .addService(new Changes())
            .intercept(new KeepKey())
            .build()
            .start();
  }

  /** Opens a client of this store. */
  Satchel.Builder client() {
    return Satchel.builder().url("127.0.0.1:" + server.getPort());
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private boolean isRefused(Object request, StreamObserver<?> answers) {
    received.add(new Received(request, Context.current().getDeadline(), KEY.get()));
    boolean isRefused = failuresToCome.getAndUpdate(left -> Math.max(left - 1, 0)) > 0;
    if (isRefused) {
      answers.onError(Status.UNAVAILABLE.asRuntimeException());
    }
    return isRefused;
  }

  private static <T> void answer(StreamObserver<T> answers, T answer) {
    answers.onNext(answer);
    answers.onCompleted();
  }

  private static final class KeepKey implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      Context context = Context.current().withValue(KEY, headers.get(AUTHORIZATION));
      return Contexts.interceptCall(context, call, headers, next);
    }
  }

  /** Lists three pages of one memory each, and answers an import as it comes. */
  private final class Memories extends MemoryServiceGrpc.MemoryServiceImplBase {
    private static final List<String> TOKENS = List.of("", "second", "third", "");

    @Override
    public void storeMemory(
        StoreMemoryRequest request, StreamObserver<StoreMemoryResponse> answers) {
      if (!isRefused(request, answers)) {
        answer(answers, StoreMemoryResponse.getDefaultInstance());
      }
    }

    @Override
    public void listMemories(
        ListMemoriesRequest request, StreamObserver<ListMemoriesResponse> answers) {
      if (!isRefused(request, answers)) {
        int page = TOKENS.indexOf(request.getPageToken()) + 1;
        Memory memory = Memory.newBuilder().setContent("page " + page).build();
        ListMemoriesResponse.Builder answer = ListMemoriesResponse.newBuilder();
        answer(answers, answer.addMemories(memory).setNextPageToken(TOKENS.get(page)).build());
      }
    }

    @Override
    public StreamObserver<ImportMemoriesRequest> importMemories(
        StreamObserver<ImportMemoriesResponse> answers) {
      return new StreamObserver<>() {
        @Override
        public void onNext(ImportMemoriesRequest record) {
          received.add(new Received(record, Context.current().getDeadline(), KEY.get()));
          answers.onNext(
              ImportMemoriesResponse.newBuilder().setSequence(record.getSequence()).build());
        }

        @Override
        public void onError(Throwable failure) {
          cancelled.countDown();
        }

        @Override
        public void onCompleted() {
          answers.onCompleted();
        }
      };
    }
  }

  /** Sends one empty response, and waits. */
  private final class Changes extends ChangeServiceGrpc.ChangeServiceImplBase {
    @Override
    public void watchChanges(
        WatchChangesRequest request, StreamObserver<WatchChangesResponse> answers) {
      if (!isRefused(request, answers)) {
        var open = (ServerCallStreamObserver<WatchChangesResponse>) answers;
        open.setOnCancelHandler(cancelled::countDown);
        open.onNext(WatchChangesResponse.getDefaultInstance());
      }
    }
  }
}
