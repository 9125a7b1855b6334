package dev.satchel.examples;

import dev.satchel.client.SatchelException;
import io.grpc.StatusRuntimeException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Forms in which the scenario wants its results printed. */
final class Printed {
  private Printed() {}

  /** Returns an object with these names and values in turn; a value may be null. */
  static Map<String, Object> fields(Object... namesAndValues) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (int place = 0; place < namesAndValues.length; place += 2) {
      fields.put((String) namesAndValues[place], namesAndValues[place + 1]);
    }
    return fields;
  }

  /** Returns a number with so many decimals, rounded as it is in binary, a zero without a sign. */
  static String decimal(double number, int decimals) {
    return new BigDecimal(number).setScale(decimals, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** Returns how a call failed. */
  static SatchelException failureOf(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException failure) {
      return SatchelException.of(failure);
    }
    throw new IllegalStateException("the call did not fail");
  }

  /** Returns the reason's name, or null. */
  static String reason(SatchelException failure) {
    return failure.info().map(info -> info.getReason()).orElse(null);
  }

  /** Returns the domain, or null. */
  static String domain(SatchelException failure) {
    return failure.info().map(info -> info.getDomain()).orElse(null);
  }

  /** Returns everything that is printed of a refused call. */
  static Map<String, Object> whole(SatchelException failure) {
    return fields(
        "code", failure.code(),
        "reason", reason(failure),
        "domain", domain(failure),
        "metadata", new TreeMap<>(failure.metadata()));
  }
}
