package dev.satchel.examples;

import static dev.satchel.examples.Described.merged;
import static dev.satchel.examples.Described.requestsOf;
import static dev.satchel.examples.Printed.failureOf;
import static dev.satchel.examples.Printed.fields;
import static dev.satchel.examples.Printed.reason;
import static dev.satchel.examples.Printed.whole;

import com.google.gson.JsonObject;
import dev.satchel.api.store.v1.ImportMemoriesRequest;
import dev.satchel.api.store.v1.ImportMemoriesResponse;
import dev.satchel.api.store.v1.StoreMemoryRequest;
import dev.satchel.api.store.v1.StoreMemoryResponse;
import dev.satchel.client.Satchel;
import dev.satchel.client.SatchelException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The steps that store memories. */
final class WritingSteps {
  private final Satchel satchel;
  private final Progress progress;

  WritingSteps(Satchel satchel, Progress progress) {
    this.satchel = satchel;
    this.progress = progress;
  }

  Object storeOne(JsonObject request) {
    StoreMemoryResponse answer = store(memory(request));
    String content = request.get("content").getAsString();
    progress.stored.add(new Progress.Stored(answer.getId(), content));
    return fields(
        "type", answer.getType(),
        "room", answer.getRoom(),
        "duplicate", answer.getDuplicate(),
        "embedding", answer.getEmbedding(),
        "token_count", answer.getTokenCount(),
        "is_uuid", UUID.fromString(answer.getId()).toString().equals(answer.getId()));
  }

  Object storeByStream(JsonObject step) {
    List<ImportMemoriesRequest> records = new ArrayList<>();
    requestsOf(step)
        .map(request -> ImportMemoriesRequest.newBuilder().setNewMemory(memory(request)))
        .forEach(record -> records.add(record.setSequence(records.size() + 1L).build()));
    List<Object> answers = new ArrayList<>();
    satchel.importMemories(records, answer -> answers.add(recordAnswer(answer)));
    return answers;
  }

  private static Object recordAnswer(ImportMemoriesResponse answer) {
    SatchelException failure = answer.hasError() ? SatchelException.of(answer.getError()) : null;
    return fields(
        "sequence", answer.getSequence(),
        "stored", answer.hasStored(),
        "code", failure == null ? null : failure.code(),
        "reason", failure == null ? null : reason(failure),
        "field", failure == null ? null : failure.metadata().get("field"));
  }

  Object sameRequestId(JsonObject step) {
    String id = UUID.randomUUID().toString();
    StoreMemoryRequest.Builder memory =
        StoreMemoryRequest.newBuilder().setWing(progress.wing).setRequestId(id);
    memory.setContent(step.get("content").getAsString());
    StoreMemoryResponse first = store(memory.build());
    StoreMemoryResponse second = store(memory.build());
    progress.lastRevision = first.getRevision();
    memory.setContent(step.get("other_content").getAsString());
    SatchelException failure = failureOf(() -> store(memory.build()));
    return fields(
        "same_id", first.getId().equals(second.getId()),
        "code", failure.code(),
        "reason", reason(failure),
        "request_id_named", id.equals(failure.metadata().get("request_id")));
  }

  Object refused(JsonObject request) {
    return whole(failureOf(() -> store(memory(request))));
  }

  private StoreMemoryRequest memory(JsonObject request) {
    StoreMemoryRequest.Builder memory = merged(request, StoreMemoryRequest.newBuilder());
    return (memory.getWing().isEmpty() ? memory.setWing(progress.wing) : memory).build();
  }

  private StoreMemoryResponse store(StoreMemoryRequest memory) {
    return satchel.memories().storeMemory(memory);
  }
}
