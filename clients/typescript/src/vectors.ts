/** Vectors as the contract carries them: packed little-endian float32, whatever the byte order of this machine. */

const BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Packs numbers, rounded to float32, into `4 * values.length` bytes. */
export function packVector(values: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const packed = new DataView(new ArrayBuffer(values.length * BYTES));
  for (let at = 0; at < values.length; at++) packed.setFloat32(at * BYTES, values[at] ?? Number.NaN, true);
  return new Uint8Array(packed.buffer);
}

/**
 * Unpacks rows of `dimension` numbers each, in order; no bytes give no rows.
 *
 * Throws a `RangeError` when the bytes are not whole rows.
 */
export function unpackVectors(bytes: Uint8Array, dimension: number): Float32Array[] {
  if (bytes.length === 0) return [];
  const width = dimension * BYTES;
  if (!Number.isInteger(dimension) || dimension < 1 || bytes.length % width !== 0) {
    throw new RangeError(`${bytes.length} bytes are not whole rows of ${dimension} numbers of ${BYTES} bytes.`);
  }
  const packed = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / width }, (_, row) =>
    Float32Array.from({ length: dimension }, (_, column) => packed.getFloat32(row * width + column * BYTES, true)),
  );
}
