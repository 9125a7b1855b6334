package dev.satchel.examples;

import static dev.satchel.examples.Printed.fields;

import dev.satchel.api.allocator.v1.RecallRequest;
import dev.satchel.api.embedder.v1.EmbedTextsRequest;
import dev.satchel.api.embedder.v1.TextRole;
import dev.satchel.api.store.v1.StoreMemoryRequest;
import dev.satchel.client.Satchel;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** Measures calls, one after the other over one connection. */
final class Bench {
  private static final int WARM_UP_CALLS = 20;
  private static final double MS = 1e6;
  private static final double S = 1e9;

  private final Satchel satchel;
  private final Duration limit;

  Bench(Satchel satchel, Duration limit) {
    this.satchel = satchel;
    this.limit = limit;
  }

  /** Returns calls per second and the median in milliseconds of each call. */
  Map<String, Object> run() {
    return fields(
        "EmbedTexts", measure(this::embed),
        "StoreMemory", measure(this::store),
        "Recall", measure(text -> recall("Is this right? " + text)));
  }

  private Map<String, Object> measure(Consumer<String> call) {
    String run = UUID.randomUUID().toString().substring(0, 8);
    for (int number = 0; number < WARM_UP_CALLS; number++) {
      call.accept(text(number, run));
    }
    List<Long> taken = new ArrayList<>();
    long start = System.nanoTime();
    long now = start;
    while (now - start < limit.toNanos()) {
      String text = text(WARM_UP_CALLS + taken.size(), run);
      long before = System.nanoTime();
      call.accept(text);
      now = System.nanoTime();
      taken.add(now - before);
    }
    return fields(
        "calls_per_second", rounded(taken.size() / ((now - start) / S), 1),
        "median_ms", rounded(median(taken) / MS, 3));
  }

  private static BigDecimal rounded(double value, int decimals) {
    return BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_UP);
  }

  private static double median(List<Long> values) {
    List<Long> sorted = values.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2.0;
  }

  private static String text(int number, String run) {
    return "Order %d of %s left the bakery at noon with %d loaves of bread."
        .formatted(number, run, number % 97);
  }

  private void embed(String text) {
    satchel
        .embedder()
        .embedTexts(
            EmbedTextsRequest.newBuilder()
                .addTexts(text)
                .setRole(TextRole.TEXT_ROLE_PASSAGE)
                .build());
  }

  private void store(String text) {
    satchel
        .memories()
        .storeMemory(StoreMemoryRequest.newBuilder().setWing("bench").setContent(text).build());
  }

  private void recall(String query) {
    satchel
        .allocator()
        .recall(
            RecallRequest.newBuilder()
                .setWing("bench")
                .setQuery(query)
                .setBudget(1000)
                .build());
  }
}
