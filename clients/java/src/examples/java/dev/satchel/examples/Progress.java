package dev.satchel.examples;

import java.util.ArrayList;
import java.util.List;

/** What later steps need to know of earlier ones. */
final class Progress {
  /** A memory that the step store_three has stored. */
  record Stored(String id, String content) {}

  final String wing;
  final List<Stored> stored = new ArrayList<>();
  long lastRevision;

  Progress(String wing) {
    this.wing = wing;
  }
}
