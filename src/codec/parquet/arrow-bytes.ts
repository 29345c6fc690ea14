import * as arrow from 'apache-arrow';
import { serviceError } from '../../base/errors.ts';

export interface BytesParts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

const maxBytes = 2 ** 31 - 1;

/** Offsets and data of Arrow strings or binary in any of its layouts; `undefined` for other types. */
export function bytesParts(data: arrow.Data): BytesParts | undefined {
  const type = data.type;
  if (data.length === 0 && isBytes(type)) return { offsets: new Int32Array(1), data: new Uint8Array(0) };
  if (arrow.DataType.isUtf8(type) || arrow.DataType.isBinary(type)) {
    return { offsets: data.valueOffsets as Int32Array, data: data.values as Uint8Array };
  }
  if (arrow.DataType.isLargeUtf8(type) || arrow.DataType.isLargeBinary(type)) {
    const large = data.valueOffsets as unknown as BigInt64Array;
    refuseLarge(Number(large[data.length] ?? 0n));
    return { offsets: Int32Array.from(large, Number), data: data.values as Uint8Array };
  }
  if (arrow.DataType.isFixedSizeBinary(type)) {
    refuseLarge(data.length * type.byteWidth);
    return { offsets: Int32Array.from({ length: data.length + 1 }, (_, index) => index * type.byteWidth), data: data.values as Uint8Array };
  }
  return isBytes(type) ? fromViews(data) : undefined;
}

function isBytes(type: arrow.DataType): boolean {
  return (
    arrow.DataType.isUtf8(type) ||
    arrow.DataType.isBinary(type) ||
    arrow.DataType.isLargeUtf8(type) ||
    arrow.DataType.isLargeBinary(type) ||
    arrow.DataType.isFixedSizeBinary(type) ||
    arrow.DataType.isUtf8View(type) ||
    arrow.DataType.isBinaryView(type)
  );
}

// Arrow: Variable-size Binary View Layout. 16 bytes a value: length, then up to 12 bytes inline, or prefix, buffer and offset.
function fromViews(data: arrow.Data): BytesParts {
  const raw = data.values as Uint8Array;
  const views = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const offsets = new Int32Array(data.length + 1);
  let end = 0;
  for (let index = 0; index < data.length; index++) {
    end += data.getValid(index) ? views.getInt32(16 * index, true) : 0;
    refuseLarge(end);
    offsets[index + 1] = end;
  }
  const target = new Uint8Array(end);
  for (let index = 0; index < data.length; index++) {
    const from = offsets[index] ?? 0;
    const length = (offsets[index + 1] ?? 0) - from;
    if (length <= 12) target.set(raw.subarray(16 * index + 4, 16 * index + 4 + length), from);
    else {
      const start = views.getInt32(16 * index + 12, true);
      const source = data.variadicBuffers[views.getInt32(16 * index + 8, true)];
      if (source !== undefined) target.set(source.subarray(start, start + length), from);
    }
  }
  return { offsets, data: target };
}

function refuseLarge(byteCount: number): void {
  if (byteCount <= maxBytes) return;
  throw serviceError.unsupported('PARQUET_BATCH_TOO_LARGE', `a column of one batch holds ${byteCount} bytes, more than ${maxBytes}`, {
    hint: 'read with a smaller batch size',
  });
}
