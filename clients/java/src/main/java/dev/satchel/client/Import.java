package dev.satchel.client;

import dev.satchel.api.store.v1.ImportMemoriesRequest;
import dev.satchel.api.store.v1.ImportMemoriesResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * One import: takes a record from its source only when the connection has room for it, so that an
 * import of any size needs little memory.
 */
final class Import
    implements ClientResponseObserver<ImportMemoriesRequest, ImportMemoriesResponse> {
  private final Iterator<ImportMemoriesRequest> records;
  private final Consumer<ImportMemoriesResponse> answers;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private ClientCallStreamObserver<ImportMemoriesRequest> requests;
  private boolean isHalfClosed;

  Import(Iterator<ImportMemoriesRequest> records, Consumer<ImportMemoriesResponse> answers) {
    this.records = records;
    this.answers = answers;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<ImportMemoriesRequest> requests) {
    this.requests = requests;
    requests.setOnReadyHandler(this::sendWhatFits);
  }

  private void sendWhatFits() {
    while (requests.isReady() && records.hasNext()) {
      requests.onNext(records.next());
    }
    if (!isHalfClosed && !records.hasNext()) {
      isHalfClosed = true;
      requests.onCompleted();
    }
  }

  @Override
  public void onNext(ImportMemoriesResponse answer) {
    answers.accept(answer);
  }

  @Override
  public void onError(Throwable failure) {
    end.completeExceptionally(failure);
  }

  @Override
  public void onCompleted() {
    end.complete(null);
  }

  /**
   * Waits until every record is answered. An interrupt cancels the import.
   *
   * @throws StatusRuntimeException when the stream fails
   */
  void await() {
    try {
      end.get();
    } catch (ExecutionException failed) {
      throw Status.fromThrowable(failed.getCause())
          .asRuntimeException(Status.trailersFromThrowable(failed.getCause()));
    } catch (InterruptedException interrupted) {
      requests.cancel("interrupted", interrupted);
      Thread.currentThread().interrupt();
      throw Status.CANCELLED
          .withDescription("interrupted")
          .withCause(interrupted)
          .asRuntimeException();
    }
  }
}
