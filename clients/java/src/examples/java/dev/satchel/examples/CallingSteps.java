package dev.satchel.examples;

import static dev.satchel.examples.Described.merged;
import static dev.satchel.examples.Printed.domain;
import static dev.satchel.examples.Printed.failureOf;
import static dev.satchel.examples.Printed.fields;
import static dev.satchel.examples.Printed.reason;
import static dev.satchel.examples.Printed.whole;

import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import dev.satchel.api.allocator.v1.RecallRequest;
import dev.satchel.api.store.v1.Change;
import dev.satchel.api.store.v1.DeleteMemoryRequest;
import dev.satchel.api.store.v1.DeleteMemoryResponse;
import dev.satchel.api.store.v1.GetMemoryRequest;
import dev.satchel.api.store.v1.WatchChangesRequest;
import dev.satchel.api.store.v1.WatchChangesResponse;
import dev.satchel.api.types.v1.SpanKind;
import dev.satchel.api.types.v1.TraceSpan;
import dev.satchel.api.types.v1.TraceSpans;
import dev.satchel.client.Part;
import dev.satchel.client.Satchel;
import dev.satchel.client.SatchelException;
import dev.satchel.client.ServerStream;
import dev.satchel.client.TraceCapture;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The steps about calls themselves: streams that end early, errors, deadlines, traces. */
final class CallingSteps {
  private final Satchel satchel;
  private final Progress progress;

  CallingSteps(Satchel satchel, Progress progress) {
    this.satchel = satchel;
    this.progress = progress;
  }

  Object health(JsonObject request) {
    HealthCheckRequest check = merged(request, HealthCheckRequest.newBuilder()).build();
    var health = HealthGrpc.newBlockingStub(satchel.channel(Part.STORE));
    return fields("status", health.check(check).getStatus());
  }

  Object watch() {
    ServerStream<WatchChangesResponse> feed = satchel.watch(fromTheLast());
    Map<String, Object> seen;
    try (feed) {
      seen = deleteAndSee(progress.stored.get(1).id(), feed);
    }
    seen.put("code", failureOf(() -> feed.forEachRemaining(answer -> {})).code());
    return seen;
  }

  private Map<String, Object> deleteAndSee(String id, ServerStream<WatchChangesResponse> feed) {
    WatchChangesResponse first = feed.next();
    DeleteMemoryResponse deleted =
        satchel.memories().deleteMemory(DeleteMemoryRequest.newBuilder().setId(id).build());
    Change change = firstChange(feed);
    return fields(
        "first_is_empty", first.getChangesList().isEmpty(),
        "kind", change.getKind(),
        "is_the_memory", change.getMemoryId().equals(id),
        "revision_agrees", change.getRevision() == deleted.getRevision());
  }

  private WatchChangesRequest fromTheLast() {
    return WatchChangesRequest.newBuilder().setAfterRevision(progress.lastRevision).build();
  }

  private static Change firstChange(ServerStream<WatchChangesResponse> feed) {
    WatchChangesResponse answer = feed.next();
    while (answer.getChangesList().isEmpty()) {
      answer = feed.next();
    }
    return answer.getChanges(0);
  }

  Object missing(JsonObject request) {
    GetMemoryRequest memory = merged(request, GetMemoryRequest.newBuilder()).build();
    return whole(failureOf(() -> satchel.memories().getMemory(memory)));
  }

  Object deadline(JsonObject step) {
    int limit = step.get("deadline_ms").getAsInt();
    var changes = satchel.changes().withDeadlineAfter(limit, TimeUnit.MILLISECONDS);
    SatchelException failure =
        failureOf(() -> changes.watchChanges(fromTheLast()).forEachRemaining(answer -> {}));
    return fields("code", failure.code(), "reason", reason(failure), "domain", domain(failure));
  }

  Object trace(RecallRequest question) {
    ByteString traceId = randomId(16);
    ByteString spanId = randomId(8);
    TraceCapture capture = new TraceCapture("00-%s-%s-01".formatted(hex(traceId), hex(spanId)));
    satchel.allocator().withInterceptors(capture).recall(question);
    TraceSpans spans = capture.spans().orElseThrow();
    List<TraceSpan> roots =
        spans.getSpansList().stream()
            .filter(span -> span.getParentSpanId().equals(spanId))
            .toList();
    return fields(
        "same_trace", spans.getTraceId().equals(traceId),
        "under_the_caller", roots.size(),
        "root", roots.get(0).getName(),
        "services",
            spans.getSpansList().stream()
                .filter(span -> span.getKind() == SpanKind.SPAN_KIND_SERVER)
                .map(span -> span.getName().split("/")[0])
                .distinct()
                .sorted()
                .toList());
  }

  private static ByteString randomId(int length) {
    byte[] id = new byte[length];
    new SecureRandom().nextBytes(id);
    return ByteString.copyFrom(id);
  }

  private static String hex(ByteString id) {
    return HexFormat.of().formatHex(id.toByteArray());
  }
}
