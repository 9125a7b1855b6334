package dev.satchel.examples;

import dev.satchel.api.allocator.v1.RecallRequest;
import dev.satchel.api.allocator.v1.RecallResponse;
import dev.satchel.api.store.v1.StoreMemoryRequest;
import dev.satchel.api.store.v1.StoreMemoryResponse;
import dev.satchel.client.Satchel;

/** Stores a memory, and recalls what fits in a budget. */
public final class Example {
  private Example() {}

  /** Runs the example against the Satchel at {@code SATCHEL_URL}, or else on this machine. */
  public static void main(String[] arguments) {
    try (Satchel satchel = Satchel.open()) {
      StoreMemoryRequest memory =
          StoreMemoryRequest.newBuilder()
              .setWing("billing")
              .setContent("We chose PostgreSQL over MySQL because the ledger needs ACID.")
              .build();
      StoreMemoryResponse stored = satchel.memories().storeMemory(memory);

      RecallRequest question =
          RecallRequest.newBuilder()
              .setWing("billing")
              .setQuery("Which database does the ledger use, and why?")
              .setBudget(500)
              .setMinRevision(stored.getRevision()) // read your own write
              .build();
      RecallResponse answer = satchel.allocator().recall(question);

      System.out.println(answer.getContext());
      System.out.println(answer.getTotalTokens() + " tokens");
    }
  }
}
