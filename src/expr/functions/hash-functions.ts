import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType } from '../../schema/types.ts';
import { built, type EngineCall, type FunctionTable, many, types } from '../function-spec.ts';
import { sqlText } from '../sql/engine-text.ts';
import { textFunctions } from '../sql/text-functions.ts';

/*
 * Spark hashes the leaves of its arguments one after the other, each with the hash so far as its seed, and passes NULLs over. So the leaves are
 * written as one text, `<kind><value>;` each, which one function of the engine folds: i INT, l BIGINT, f FLOAT, d DOUBLE, n the unscaled
 * value of a wide decimal, b bytes in hexadecimal.
 */
function leavesSql(value: string, type: DataType, name: string, depth: number = 0): string {
  switch (type.kind) {
    case 'boolean':
      return leaf('i', `CAST(${value} AS INTEGER)`);
    case 'byte':
    case 'short':
    case 'integer':
      return leaf('i', value);
    case 'date':
      return leaf('i', `(${value} - make_date(0))`);
    case 'long':
      return leaf('l', value);
    case 'timestamp':
    case 'timestamp_ntz':
      return leaf('l', `epoch_us(${value})`);
    case 'float':
      return leaf('f', value);
    case 'double':
      return leaf('d', value);
    case 'decimal':
      return leaf(type.precision <= 18 ? 'l' : 'n', `CAST(replace(CAST(${value} AS VARCHAR), '.', '') AS HUGEINT)`);
    case 'string':
      return leaf('b', `hex(encode(${value}))`);
    case 'binary':
      return leaf('b', `hex(${value})`);
    case 'list': {
      const item = `"__leaf${depth}"`;
      return `coalesce(array_to_string(list_transform(${value}, lambda ${item}: ${leavesSql(item, type.element, name, depth + 1)}), ''), '')`;
    }
    case 'struct': {
      const parts = type.fields.map((field) => leavesSql(`struct_extract(${value}, ${sqlText(field.name)})`, field.type, name, depth));
      return parts.length === 0 ? "''" : `(${parts.join(' || ')})`;
    }
    case 'void':
      return "''";
    default:
      throw cannotHash(name, type);
  }
}

function leaf(kind: string, value: string): string {
  return `coalesce('${kind}' || CAST(${value} AS VARCHAR) || ';', '')`;
}

function hashed(engineFunction: string): (call: EngineCall) => string {
  return (call) => {
    const leaves = call.args.map((value, index) => {
      const given = call.call.arguments[index];
      if (given?.kind === 'literal' && given.literal.type === 'null') return "''";
      const type = call.types[index];
      if (type === undefined) throw cannotHash(call.call.name, type);
      return leavesSql(value, type, call.call.name);
    });
    return `${engineFunction}(${leaves.join(' || ')})`;
  };
}

function cannotHash(name: string, type: DataType | undefined): AnalysisException {
  const shown = type === undefined ? 'an expression of unknown type' : describeType(type).toUpperCase();
  return new AnalysisException({
    errorClass: type?.kind === 'map' ? 'DATATYPE_MISMATCH.HASH_MAP_TYPE' : 'UNSUPPORTED_FEATURE',
    message: `the function \`${name}\` does not take ${shown}`,
    hint: type?.kind === 'map' ? 'maps that are equal may be stored differently: hash map_entries, sorted' : 'cast it first',
    parameters: { functionName: name },
  });
}

/** Spark's own hashes, bit for bit. */
export const hashFunctionTable: FunctionTable = {
  hash: built([1, many], (call) => `CAST(${hashed(textFunctions.murmur3)(call)} AS INTEGER)`, types.integer),
  xxhash64: built([1, many], hashed(textFunctions.xxhash64), types.long),
};
