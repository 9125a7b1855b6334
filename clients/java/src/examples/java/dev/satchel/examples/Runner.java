package dev.satchel.examples;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import dev.satchel.client.Satchel;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/**
 * Runs the scenario of {@code clients/scenario.json}, or measures calls, and prints one JSON
 * object.
 */
public final class Runner {
  private static final String USAGE =
      "usage: Runner --url URL --project NAME (PATH_OF_SCENARIO | --bench SECONDS)";
  private static final Gson GSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().setPrettyPrinting().create();

  private String url = Satchel.DEFAULT_URL;
  private String project = "";
  private Path scenario;
  private Duration bench;

  private Runner() {}

  /** Ends with 0 when every step ran, with 2 when the command line is wrong, else with 1. */
  public static void main(String[] arguments) throws IOException {
    Runner runner = new Runner();
    if (!runner.isUnderstood(new ArrayDeque<>(List.of(arguments)))) {
      System.err.println(USAGE);
      System.exit(2);
    }
    // The platform's encoding may be another one than JSON's.
    try (PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8)) {
      out.println(GSON.toJson(runner.run()));
    }
  }

  private boolean isUnderstood(Deque<String> words) {
    while (!words.isEmpty()) {
      String word = words.remove();
      switch (word) {
        case "--url" -> url = words.poll();
        case "--project" -> project = words.poll();
        case "--bench" -> bench = secondsOf(words.poll());
        default -> scenario = Path.of(word);
      }
    }
    return url != null && project != null && (bench == null) != (scenario == null);
  }

  private static Duration secondsOf(String text) {
    return text == null ? null : Duration.ofMillis(Math.round(Double.parseDouble(text) * 1000));
  }

  private Map<String, ?> run() throws IOException {
    try (Satchel satchel = Satchel.builder().url(url).project(project).build()) {
      return bench == null
          ? new Scenario(satchel, GSON.fromJson(Files.readString(scenario), JsonObject.class)).run()
          : new Bench(satchel, bench).run();
    }
  }
}
