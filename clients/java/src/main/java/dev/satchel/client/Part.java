package dev.satchel.client;

import java.util.Locale;

/** A service of Satchel with an address of its own when the services run apart. */
public enum Part {
  /** Turns texts into vectors. */
  EMBEDDER,
  /** Keeps the memories, their words and the change feed. */
  STORE,
  /** Finds vectors. */
  INDEX,
  /** Recalls, searches and packs. */
  ALLOCATOR;

  /** Returns the name by which an address list and the packages of the contracts call the part. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
