package dev.satchel.examples;

import static dev.satchel.examples.Described.objects;
import static dev.satchel.examples.Described.requestOf;
import static dev.satchel.examples.Described.requestsOf;

import com.google.gson.JsonObject;
import dev.satchel.client.Satchel;
import java.util.LinkedHashMap;
import java.util.Map;

/** The steps of {@code clients/scenario.json}, which says what each one sends and prints. */
final class Scenario {
  private final Map<String, JsonObject> steps = new LinkedHashMap<>();
  private final WritingSteps writing;
  private final ReadingSteps reading;
  private final CallingSteps calling;

  Scenario(Satchel satchel, JsonObject described) {
    objects(described, "steps").forEach(step -> steps.put(step.get("name").getAsString(), step));
    Progress progress = new Progress(described.get("wing").getAsString());
    writing = new WritingSteps(satchel, progress);
    reading = new ReadingSteps(satchel, progress);
    calling = new CallingSteps(satchel, progress);
  }

  /** Runs the steps in order and returns what each one prints. */
  Map<String, Object> run() {
    Map<String, Object> printed = new LinkedHashMap<>();
    steps.forEach((name, step) -> printed.put(name, run(name, step)));
    return printed;
  }

  private Object run(String name, JsonObject step) {
    return switch (name) {
      case "health" -> calling.health(requestOf(step));
      case "store_three" -> requestsOf(step).map(writing::storeOne).toList();
      case "store_by_stream" -> writing.storeByStream(step);
      case "same_request_id" -> writing.sameRequestId(step);
      case "recall" -> reading.recall(requestOf(step));
      case "search" -> reading.search(requestOf(step));
      case "allocate" -> reading.allocate(requestOf(step));
      case "embed" -> reading.embed(requestOf(step));
      case "list" -> reading.list(step);
      case "watch" -> calling.watch();
      case "invalid_argument" -> writing.refused(requestOf(step));
      case "missing_memory" -> calling.missing(requestOf(step));
      case "deadline" -> calling.deadline(step);
      case "trace" -> calling.trace(reading.question(requestOf(steps.get("recall"))));
      default -> throw new IllegalArgumentException("no step is called " + name);
    };
  }
}
