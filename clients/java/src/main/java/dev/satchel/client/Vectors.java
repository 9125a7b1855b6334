package dev.satchel.client;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * Vectors as they travel: packed little-endian float32, row after row, without anything between.
 *
 * <p>{@link ByteBuffer} is big-endian unless told otherwise, so read such fields only through here.
 */
public final class Vectors {
  private Vectors() {}

  /** Packs one row, or several that follow each other, into {@code 4 * values.length} bytes. */
  public static ByteString pack(float... values) {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return ByteString.copyFrom(bytes);
  }

  /**
   * Unpacks rows of {@code dimension} numbers; no bytes are no rows.
   *
   * @throws IllegalArgumentException when the bytes are not whole rows
   */
  public static float[][] unpack(ByteString packed, int dimension) {
    if (packed.isEmpty()) {
      return new float[0][];
    }
    if (dimension < 1 || packed.size() % (dimension * Float.BYTES) != 0) {
      throw new IllegalArgumentException(
          "%d bytes are not whole rows of %d float32".formatted(packed.size(), dimension));
    }
    FloatBuffer floats =
        packed.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    float[][] rows = new float[floats.remaining() / dimension][dimension];
    for (float[] row : rows) {
      floats.get(row);
    }
    return rows;
  }
}
