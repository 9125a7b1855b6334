package dev.satchel.examples;

import static dev.satchel.examples.Described.merged;
import static dev.satchel.examples.Described.objects;
import static dev.satchel.examples.Printed.decimal;
import static dev.satchel.examples.Printed.failureOf;
import static dev.satchel.examples.Printed.fields;
import static dev.satchel.examples.Printed.reason;

import com.google.gson.JsonObject;
import dev.satchel.api.allocator.v1.AllocateRequest;
import dev.satchel.api.allocator.v1.AllocateResponse;
import dev.satchel.api.allocator.v1.Candidate;
import dev.satchel.api.allocator.v1.RecallRequest;
import dev.satchel.api.allocator.v1.RecallResponse;
import dev.satchel.api.allocator.v1.RecalledMemory;
import dev.satchel.api.allocator.v1.SearchMemoriesRequest;
import dev.satchel.api.embedder.v1.EmbedTextsRequest;
import dev.satchel.api.embedder.v1.EmbedTextsResponse;
import dev.satchel.api.store.v1.ListMemoriesRequest;
import dev.satchel.api.store.v1.ListMemoriesResponse;
import dev.satchel.api.types.v1.Memory;
import dev.satchel.client.Satchel;
import dev.satchel.client.SatchelException;
import dev.satchel.client.Vectors;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The steps that find, pack, embed and list. */
final class ReadingSteps {
  private static final Comparator<String> BY_CODE_POINT =
      (left, right) -> Arrays.compare(left.codePoints().toArray(), right.codePoints().toArray());

  private final Satchel satchel;
  private final Progress progress;

  ReadingSteps(Satchel satchel, Progress progress) {
    this.satchel = satchel;
    this.progress = progress;
  }

  RecallRequest question(JsonObject request) {
    RecallRequest.Builder question = RecallRequest.newBuilder().setWing(progress.wing);
    return merged(request, question).setMinRevision(progress.lastRevision).build();
  }

  Object recall(JsonObject request) {
    RecallResponse answer = satchel.allocator().recall(question(request));
    RecalledMemory first = answer.getMemories(0);
    Progress.Stored expected = progress.stored.get(0);
    int tokens = answer.getTotalTokens();
    return fields(
        "first_mode", first.getMode(),
        "first_is_stored", first.getId().equals(expected.id()),
        "in_context", answer.getContext().contains(expected.content()),
        "within_budget", tokens <= request.get("budget").getAsInt(),
        "receipt_agrees", tokens > 0 && tokens == answer.getReceipt().getTotalTokens(),
        "encoding", answer.getReceipt().getEncoding(),
        "degraded", answer.getReceipt().getDegradedList());
  }

  Object search(JsonObject request) {
    SearchMemoriesRequest.Builder search =
        SearchMemoriesRequest.newBuilder().setWing(progress.wing);
    merged(request, search).setMinRevision(progress.lastRevision);
    return satchel.allocator().searchMemories(search.build()).getResultsList().stream()
        .map(
            hit ->
                fields("content", hit.getContent(), "type", hit.getType(), "room", hit.getRoom()))
        .toList();
  }

  Object allocate(JsonObject request) {
    JsonObject rest = request.deepCopy();
    rest.remove("candidates");
    AllocateRequest.Builder allocation = merged(rest, AllocateRequest.newBuilder());
    objects(request, "candidates").forEach(each -> allocation.addCandidates(candidate(each)));
    AllocateResponse answer = satchel.allocator().allocate(allocation.build());
    return fields(
        "context", answer.getContext(),
        "ids", answer.getMemoriesList().stream().map(RecalledMemory::getId).toList(),
        "total_tokens", answer.getTotalTokens(),
        "collapsed_count", answer.getReceipt().getCollapsedCount(),
        "selected_count", answer.getReceipt().getSelectedCount());
  }

  private static Candidate.Builder candidate(JsonObject described) {
    float[] vector = new float[4];
    JsonObject rest = described.deepCopy();
    vector[rest.remove("vector_axis").getAsInt()] = 1;
    return merged(rest, Candidate.newBuilder()).setVector(Vectors.pack(vector));
  }

  Object embed(JsonObject request) {
    EmbedTextsRequest texts = merged(request, EmbedTextsRequest.newBuilder()).build();
    EmbedTextsResponse answer = satchel.embedder().embedTexts(texts);
    float[][] rows = Vectors.unpack(answer.getVectors(), answer.getDimension());
    return fields(
        "count", answer.getCount(),
        "dimension", answer.getDimension(),
        "byte_length", answer.getVectors().size(),
        "norms", Stream.of(rows).map(row -> decimal(Math.sqrt(dot(row, row)), 4)).toList(),
        "first", Stream.of(0, 1, 2).map(place -> decimal(rows[0][place], 2)).toList(),
        "cosine", decimal(dot(rows[0], rows[1]), 2),
        "passages",
            answer.getSpansList().stream()
                .map(
                    span ->
                        fields(
                            "text_index", span.getTextIndex(),
                            "start", span.getStart(),
                            "end", span.getEnd()))
                .toList());
  }

  private static double dot(float[] left, float[] right) {
    double sum = 0;
    for (int place = 0; place < left.length; place++) {
      sum += (double) left[place] * right[place];
    }
    return sum;
  }

  Object list(JsonObject step) {
    ListMemoriesRequest.Builder request =
        ListMemoriesRequest.newBuilder()
            .setWing(progress.wing)
            .setPageSize(step.get("page_size").getAsInt());
    List<ListMemoriesResponse> pages = satchel.pages(request.build()).toList();
    List<Memory> memories =
        pages.stream().flatMap(page -> page.getMemoriesList().stream()).toList();
    request
        .setPageToken(pages.get(0).getNextPageToken())
        .setPageSize(step.get("other_page_size").getAsInt());
    SatchelException failure = failureOf(() -> satchel.memories().listMemories(request.build()));
    return fields(
        "pages", pages.stream().map(ListMemoriesResponse::getMemoriesCount).toList(),
        "contents", memories.stream().map(Memory::getContent).sorted(BY_CODE_POINT).toList(),
        "unique", memories.stream().map(Memory::getId).distinct().count() == memories.size(),
        "code", failure.code(),
        "reason", reason(failure),
        "field", failure.metadata().get("field"));
  }
}
