package dev.satchel.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.satchel.api.store.v1.ImportMemoriesRequest;
import dev.satchel.api.store.v1.ImportMemoriesResponse;
import dev.satchel.api.store.v1.ListMemoriesRequest;
import dev.satchel.api.store.v1.StoreMemoryRequest;
import dev.satchel.api.store.v1.WatchChangesRequest;
import dev.satchel.api.store.v1.WatchChangesResponse;
import dev.satchel.api.types.v1.Memory;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SatchelTest {
  private static final StoreMemoryRequest MEMORY =
      StoreMemoryRequest.newBuilder().setContent("Invoices go out on Mondays.").build();
  private static final ListMemoriesRequest ALL = ListMemoriesRequest.getDefaultInstance();

  private Peer peer;

  @BeforeEach
  void start() throws IOException {
    peer = new Peer();
  }

  @AfterEach
  void stop() {
    peer.close();
  }

  @Test
  void aUnaryCallCarriesDeadlineKeyAndProject() {
    try (Satchel satchel =
        peer.client().timeout(Duration.ofSeconds(7)).apiKey("sk_test").project("bakery").build()) {
      satchel.memories().storeMemory(MEMORY);
    }

    Peer.Received call = peer.received.remove();
    long left = call.deadline().timeRemaining(TimeUnit.MILLISECONDS);
    assertTrue(left <= 7000 && left > -30_000, "" + left);
    assertEquals("Bearer sk_test", call.authorization());
    assertEquals(MEMORY.toBuilder().setProject("bakery").build(), call.request());
  }

  @Test
  void aClientWithoutKeyAndProjectAddsNeither() {
    try (Satchel satchel = peer.client().build()) {
      satchel.memories().storeMemory(MEMORY);
    }

    Peer.Received call = peer.received.remove();
    assertNull(call.authorization());
    assertEquals(MEMORY, call.request());
  }

  @Test
  void aProjectThatTheRequestNamesStays() {
    StoreMemoryRequest memory = MEMORY.toBuilder().setProject("mill").build();
    try (Satchel satchel = peer.client().project("bakery").build()) {
      satchel.memories().storeMemory(memory);
    }

    assertEquals(memory, peer.received.remove().request());
  }

  @Test
  void aDeadlineOfTheStubWinsOverTheDefault() {
    try (Satchel satchel = peer.client().timeout(Duration.ofSeconds(7)).build()) {
      satchel.memories().withDeadlineAfter(1, TimeUnit.HOURS).storeMemory(MEMORY);
    }

    assertTrue(peer.received.remove().deadline().timeRemaining(TimeUnit.MINUTES) > 50);
  }

  @Test
  void aReadIsRepeatedWhileTheServerIsUnavailable() {
    peer.failuresToCome.set(2);
    try (Satchel satchel = peer.client().build()) {
      assertEquals(1, satchel.memories().listMemories(ALL).getMemoriesCount());
    }

    assertEquals(3, peer.received.size());
  }

  @Test
  void aWriteIsNotRepeated() {
    peer.failuresToCome.set(1);
    try (Satchel satchel = peer.client().build()) {
      var failure =
          assertThrows(StatusRuntimeException.class, () -> satchel.memories().storeMemory(MEMORY));
      assertEquals(Status.Code.UNAVAILABLE, failure.getStatus().getCode());
    }

    assertEquals(1, peer.received.size());
  }

  @Test
  void aListGoesOnToTheLastPage() {
    try (Satchel satchel = peer.client().build()) {
      List<String> contents = satchel.list(ALL).map(Memory::getContent).toList();

      assertEquals(List.of("page 1", "page 2", "page 3"), contents);
    }
  }

  @Test
  void aPageThatNobodyReadsIsNotAskedFor() {
    try (Satchel satchel = peer.client().build()) {
      assertEquals("page 1", satchel.list(ALL).findFirst().orElseThrow().getContent());
    }

    assertEquals(1, peer.received.size());
  }

  @Test
  void everyRecordOfAnImportIsAnsweredInOrderAndInTheProject() {
    List<ImportMemoriesRequest> records =
        LongStream.rangeClosed(1, 2000)
            .mapToObj(
                number ->
                    ImportMemoriesRequest.newBuilder()
                        .setSequence(number)
                        .setNewMemory(MEMORY)
                        .build())
            .toList();
    List<Long> answered = new ArrayList<>();
    try (Satchel satchel = peer.client().project("bakery").build()) {
      satchel.importMemories(records, answer -> answered.add(answer.getSequence()));
    }

    assertEquals(records.stream().map(ImportMemoriesRequest::getSequence).toList(), answered);
    Peer.Received last = peer.received.remove();
    assertNull(last.deadline());
    assertEquals("bakery", ((ImportMemoriesRequest) last.request()).getNewMemory().getProject());
  }

  @Test
  void anAnswerThatTheCallerCannotTakeEndsTheImport() {
    IllegalStateException full = new IllegalStateException("no more");
    try (Satchel satchel = peer.client().build()) {
      var failure =
          assertThrows(
              StatusRuntimeException.class,
              () ->
                  satchel.importMemories(
                      List.of(ImportMemoriesRequest.getDefaultInstance()),
                      (ImportMemoriesResponse answer) -> {
                        throw full;
                      }));

      assertEquals(Status.Code.CANCELLED, failure.getStatus().getCode());
      assertSame(full, failure.getCause());
    }
  }

  @Test
  void closingAFeedEndsItOnBothSides() throws InterruptedException {
    try (Satchel satchel = peer.client().build()) {
      ServerStream<WatchChangesResponse> feed =
          satchel.watch(WatchChangesRequest.getDefaultInstance());
      try (feed) {
        assertEquals(0, feed.next().getChangesCount());
      }

      var failure = assertThrows(StatusRuntimeException.class, feed::hasNext);
      assertEquals(Status.Code.CANCELLED, failure.getStatus().getCode());
      assertTrue(peer.cancelled.await(20, TimeUnit.SECONDS));
    }
    assertNull(peer.received.remove().deadline());
  }

  @Test
  void aPartWithoutAnAddressIsNamedWithARemedy() {
    try (Satchel satchel = Satchel.builder().url("store=127.0.0.1:1").build()) {
      var refusal = assertThrows(IllegalStateException.class, satchel::allocator);

      assertEquals(
          "No address of the allocator is known. Add allocator=HOST:PORT to the URL.",
          refusal.getMessage());
    }
  }
}
