/**
 * Arrays in PostgreSQL's binary format: what a batch travels in. No text is escaped on this side or parsed on the other.
 *
 * Layout (big-endian int32 each): dimensions = 1, has nulls = 0, element type, length, lower bound = 1, then size and bytes of each element.
 */
const OID = { int4: 23, int8: 20, text: 25, uuid: 2950 } as const;
const HEADER = 20;

function header(buffer: Buffer, oid: number, length: number): void {
  buffer.writeInt32BE(length === 0 ? 0 : 1, 0);
  buffer.writeInt32BE(0, 4);
  buffer.writeInt32BE(oid, 8);
  if (length === 0) return;
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
}

/** An empty array has no dimension and ends after the element type. */
function allocate(oid: number, length: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(length === 0 ? 12 : HEADER + length * 4 + bytes);
  header(buffer, oid, length);
  return buffer;
}

export function int4Array(values: readonly number[]): Buffer {
  const buffer = allocate(OID.int4, values.length, values.length * 4);
  let at = HEADER;
  for (const value of values) {
    buffer.writeInt32BE(4, at);
    buffer.writeInt32BE(value, at + 4);
    at += 8;
  }
  return buffer;
}

export function int8Array(values: readonly bigint[]): Buffer {
  const buffer = allocate(OID.int8, values.length, values.length * 8);
  let at = HEADER;
  for (const value of values) {
    buffer.writeInt32BE(8, at);
    buffer.writeBigInt64BE(value, at + 4);
    at += 12;
  }
  return buffer;
}

/** @param values 16 bytes each. */
export function uuidArray(values: readonly Uint8Array[]): Buffer {
  const buffer = allocate(OID.uuid, values.length, values.length * 16);
  let at = HEADER;
  for (const value of values) {
    buffer.writeInt32BE(16, at);
    buffer.set(value, at + 4);
    at += 20;
  }
  return buffer;
}

export function textArray(values: readonly string[]): Buffer {
  let bytes = 0;
  for (const value of values) bytes += Buffer.byteLength(value);
  const buffer = allocate(OID.text, values.length, bytes);
  let at = HEADER;
  for (const value of values) {
    const written = buffer.write(value, at + 4);
    buffer.writeInt32BE(written, at);
    at += 4 + written;
  }
  return buffer;
}
