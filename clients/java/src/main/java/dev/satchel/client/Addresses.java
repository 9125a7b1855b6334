package dev.satchel.client;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** Reads the two forms of a Satchel URL: one address for everything, or one for each part. */
final class Addresses {
  private static final String REMEDY =
      "Give HOST:PORT, or the parts as in store=HOST:PORT,allocator=HOST:PORT.";

  private Addresses() {}

  /**
   * Returns the address of each part that the URL names.
   *
   * @throws IllegalArgumentException when an entry has no port, names no part or names one twice
   */
  static Map<Part, String> parse(String url) {
    Map<Part, String> addresses = new EnumMap<>(Part.class);
    if (!url.contains("=")) {
      Arrays.stream(Part.values()).forEach(part -> addresses.put(part, checked(url)));
      return addresses;
    }
    for (String entry : url.split(",", -1)) {
      String[] sides = entry.split("=", 2);
      Part part = partOf(sides[0].strip());
      if (addresses.put(part, checked(sides.length == 2 ? sides[1] : "")) != null) {
        throw new IllegalArgumentException(
            "'%s' is named twice. %s".formatted(part.label(), REMEDY));
      }
    }
    return addresses;
  }

  private static Part partOf(String label) {
    return Arrays.stream(Part.values())
        .filter(part -> part.label().equals(label))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("'%s' is no part. %s".formatted(label, REMEDY)));
  }

  private static String checked(String given) {
    String address = given.strip();
    if (!address.matches("[^\\s/]+:\\d{1,5}")) {
      throw new IllegalArgumentException("'%s' is no address. %s".formatted(given, REMEDY));
    }
    return address;
  }
}
