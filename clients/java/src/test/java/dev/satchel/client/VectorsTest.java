package dev.satchel.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class VectorsTest {
  @Test
  void aNumberIsPackedWithItsLowestByteFirst() {
    ByteString packed = Vectors.pack(1.0f, -2.5f);

    assertEquals("0000803f000020c0", HexFormat.of().formatHex(packed.toByteArray()));
  }

  @Test
  void rowsComeBackAsTheyWerePacked() {
    float[][] rows = Vectors.unpack(Vectors.pack(1, 2, 3, 4, 5, 6), 3);

    assertArrayEquals(new float[][] {{1, 2, 3}, {4, 5, 6}}, rows);
  }

  @Test
  void noBytesAreNoRows() {
    assertEquals(0, Vectors.unpack(ByteString.EMPTY, 0).length);
  }

  @Test
  void bytesThatAreNotWholeRowsAreRefused() {
    ByteString three = Vectors.pack(1, 2, 3);

    assertThrows(IllegalArgumentException.class, () -> Vectors.unpack(three, 2));
    assertThrows(IllegalArgumentException.class, () -> Vectors.unpack(three, 0));
  }
}
