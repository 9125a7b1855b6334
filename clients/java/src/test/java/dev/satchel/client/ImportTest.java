package dev.satchel.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.satchel.api.store.v1.ImportMemoriesRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ImportTest {
  /** The sending side of a call whose connection has room for so many messages. */
  private static final class Sending extends ClientCallStreamObserver<ImportMemoriesRequest> {
    final List<Long> sent = new ArrayList<>();
    int room;
    int ends;
    Runnable onReady;

    void makeRoom(int more) {
      room += more;
      onReady.run();
    }

    @Override
    public boolean isReady() {
      return room > 0;
    }

    @Override
    public void setOnReadyHandler(Runnable handler) {
      onReady = handler;
    }

    @Override
    public void onNext(ImportMemoriesRequest record) {
      room--;
      sent.add(record.getSequence());
    }

    @Override
    public void onCompleted() {
      ends++;
    }

    @Override
    public void onError(Throwable failure) {
      throw new AssertionError(failure);
    }

    @Override
    public void cancel(String message, Throwable cause) {
      throw new AssertionError(message, cause);
    }

    @Override
    public void request(int count) {
      throw new AssertionError("flow control of answers is automatic");
    }

    @Override
    public void setMessageCompression(boolean enable) {
      throw new AssertionError("not asked for");
    }

    @Override
    public void disableAutoInboundFlowControl() {
      throw new AssertionError("flow control of answers is automatic");
    }
  }

  private static Iterator<ImportMemoriesRequest> records(long count) {
    return LongStream.rangeClosed(1, count)
        .mapToObj(number -> ImportMemoriesRequest.newBuilder().setSequence(number).build())
        .iterator();
  }

  @Test
  void recordsAreTakenOnlyWhileThereIsRoomForThem() {
    Iterator<ImportMemoriesRequest> records = records(5);
    Sending sending = new Sending();
    new Import(records, answer -> {}).beforeStart(sending);

    sending.makeRoom(3);

    assertEquals(List.of(1L, 2L, 3L), sending.sent);
    assertEquals(4, records.next().getSequence());
  }

  @Test
  void theSendingSideEndsOnceAfterTheLastRecord() {
    Sending sending = new Sending();
    new Import(records(5), answer -> {}).beforeStart(sending);

    sending.makeRoom(3);
    assertEquals(0, sending.ends);
    sending.makeRoom(3);
    sending.makeRoom(3);

    assertEquals(List.of(1L, 2L, 3L, 4L, 5L), sending.sent);
    assertEquals(1, sending.ends);
  }

  @Test
  void aFailedStreamFailsTheImportWithItsStatus() {
    Import running = new Import(records(1), answer -> {});
    running.beforeStart(new Sending());

    running.onError(Status.RESOURCE_EXHAUSTED.withDescription("full").asRuntimeException());

    var failure = assertThrows(StatusRuntimeException.class, running::await);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, failure.getStatus().getCode());
    assertTrue(failure.getMessage().endsWith("full"), failure.getMessage());
  }
}
