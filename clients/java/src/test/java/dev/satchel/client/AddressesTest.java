package dev.satchel.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressesTest {
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:50051", "localhost:50051", "[::1]:50051"})
  void oneAddressServesEveryPart(String url) {
    Map<Part, String> addresses = Addresses.parse(url);

    assertEquals(Part.values().length, addresses.size());
    addresses.values().forEach(address -> assertEquals(url, address));
  }

  @Test
  void partsHaveAddressesOfTheirOwn() {
    assertEquals(
        Map.of(Part.STORE, "a:1", Part.ALLOCATOR, "b:2"),
        Addresses.parse("store=a:1, allocator=b:2"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "host", "http://host:1", "store=", "store=host", "shop=host:1", "store=a:1,"})
  void whatIsNoUrlIsRefusedWithARemedy(String url) {
    var refusal = assertThrows(IllegalArgumentException.class, () -> Addresses.parse(url));

    assertTrue(refusal.getMessage().contains("Give HOST:PORT"), refusal.getMessage());
  }

  @Test
  void aPartThatIsNamedTwiceIsRefused() {
    var refusal =
        assertThrows(IllegalArgumentException.class, () -> Addresses.parse("store=a:1,store=b:2"));

    assertTrue(refusal.getMessage().startsWith("'store' is named twice."), refusal.getMessage());
  }
}
