import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DuckDBConnection } from '@duckdb/node-api';
import { buildColumn } from '../codec/build-columns.ts';
import { bytesAt, textAt } from '../codec/rows.ts';
import { textFunctions } from '../expr/sql/text-functions.ts';
import { type BytesColumn, type Column, isValid } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import type { DuckdbModules, RawVector } from './duckdb-modules.ts';
import { duckdbTypeOf } from './duckdb-types.ts';
import { readVector } from './rows/read-vector.ts';
import { writeVector } from './rows/write-vector.ts';
import { bytesOfText, textOfBytes } from './text-charsets.ts';

const text: DataType = { kind: 'string' };
const binary: DataType = { kind: 'binary' };
const long: DataType = { kind: 'long' };

interface TextFunction {
  readonly takes: readonly DataType[];
  readonly gives: DataType;
  /** A row of which no argument is NULL; `undefined` gives NULL. */
  readonly of: (columns: readonly BytesColumn[], row: number) => string | Uint8Array | bigint | undefined;
}

const digests: Readonly<Record<string, string>> = { 224: 'sha224', 384: 'sha384', 512: 'sha512', 256: 'sha256', 0: 'sha256' };

const functions: Readonly<Record<string, TextFunction>> = {
  [textFunctions.levenshtein]: {
    takes: [text, text],
    gives: long,
    of: ([one, other], row) => BigInt(levenshtein(textOf(one, row), textOf(other, row))),
  },
  [textFunctions.sha2]: {
    takes: [binary, text],
    gives: text,
    of: ([value, bits], row) => {
      const digest = digests[textOf(bits, row)];
      return digest === undefined ? undefined : createHash(digest).update(bytesOf(value, row)).digest('hex');
    },
  },
  [textFunctions.soundex]: { takes: [text], gives: text, of: ([value], row) => soundex(textOf(value, row)) },
  [textFunctions.crc32]: { takes: [binary], gives: long, of: ([value], row) => BigInt(crc32(bytesOf(value, row))) },
  [textFunctions.encode]: {
    takes: [text, text],
    gives: binary,
    of: ([value, charset], row) => bytesOfText(textOf(value, row), textOf(charset, row)),
  },
  [textFunctions.decode]: {
    takes: [binary, text],
    gives: text,
    of: ([value, charset], row) => textOfBytes(bytesOf(value, row), textOf(charset, row)),
  },
};

/** Makes `textFunctions` known to all connections of the instance. Their work is done on the thread that started the engine. */
export function registerTextFunctions({ api, bindings }: DuckdbModules, connection: DuckDBConnection): void {
  for (const [name, { takes, gives, of }] of Object.entries(functions)) {
    const made = api.DuckDBScalarFunction.create({
      name,
      returnType: duckdbTypeOf(api, gives),
      parameterTypes: takes.map((type) => duckdbTypeOf(api, type)),
      mainFunction: (_, input, output) => {
        const columns = takes.map((type, index) =>
          readVector(bindings, bindings.data_chunk_get_vector(input.chunk, index), type, input.rowCount),
        );
        const values = Array.from({ length: input.rowCount }, (_value, row) => rowOf(columns, row, of));
        // The declaration keeps the vector to itself.
        const target = (output as unknown as { readonly vector: RawVector }).vector;
        writeVector(bindings, target, buildColumn(gives, values, name));
      },
    });
    connection.registerScalarFunction(made);
  }
}

function rowOf(columns: readonly Column[], row: number, of: TextFunction['of']): ReturnType<TextFunction['of']> {
  return columns.every((column) => isValid(column, row)) ? of(columns as readonly BytesColumn[], row) : undefined;
}

function textOf(column: BytesColumn | undefined, row: number): string {
  return column === undefined ? '' : textAt(column, row);
}

function bytesOf(column: BytesColumn | undefined, row: number): Uint8Array {
  return column === undefined ? new Uint8Array() : bytesAt(column, row);
}

/** Characters put in, left out or changed on the way from one text to the other. */
function levenshtein(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  let previous = right.map((_, index) => index + 1);
  for (const [place, character] of left.entries()) {
    let before = place;
    let last = place + 1;
    previous = right.map((wanted, index) => {
      const above = previous[index] ?? 0;
      const changed = before + (wanted === character ? 0 : 1);
      before = above;
      last = Math.min(changed, above + 1, last + 1);
      return last;
    });
  }
  return right.length === 0 ? left.length : (previous.at(-1) ?? 0);
}

/** Digits of the letters A to Z; 0 are vowels, 7 the letters between which equal digits count once. */
const soundexDigits = '01230127022455012623017202';

/** Text that begins with no letter of A to Z stays as it is. */
function soundex(value: string): string {
  const upper = value.toUpperCase();
  if (!/^[A-Z]/.test(upper)) return value;
  let code = upper.charAt(0);
  let last = digitOf(code);
  for (const letter of upper.slice(1)) {
    const digit = digitOf(letter);
    if (digit === '7' || digit === '') continue;
    if (digit !== '0' && digit !== last) code += digit;
    last = digit;
    if (code.length === 4) break;
  }
  return code.padEnd(4, '0');
}

function digitOf(letter: string): string {
  return /^[A-Z]$/.test(letter) ? soundexDigits.charAt(letter.charCodeAt(0) - 65) : '';
}
