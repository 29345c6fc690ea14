import { assertNever } from '../../base/assert.ts';
import { serviceError } from '../../base/errors.ts';
import type { DataType } from '../../schema/types.ts';
import { BooleanBuilder } from './boolean-builder.ts';
import { BytesBuilder } from './bytes-builder.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { DecimalBuilder } from './decimal-builder.ts';
import { FloatingBuilder } from './floating-builder.ts';
import { Int32Builder } from './int32-builder.ts';
import { Int64Builder } from './int64-builder.ts';
import { ListBuilder, MapBuilder, StructBuilder } from './nested-builders.ts';

/**
 * The builder for columns of a type.
 *
 * @throws ServiceError `DECODE_TYPE_UNSUPPORTED` (kind unsupported) for types that nothing can be ingested into.
 */
export function createBuilder(type: DataType): ColumnBuilder {
  switch (type.kind) {
    case 'boolean':
      return new BooleanBuilder();
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      return new Int32Builder({ kind: type.kind });
    case 'long':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return new Int64Builder({ kind: type.kind });
    case 'float':
    case 'double':
      return new FloatingBuilder({ kind: type.kind });
    case 'decimal':
      return new DecimalBuilder(type);
    case 'string':
    case 'binary':
      return new BytesBuilder(type);
    case 'struct':
      return new StructBuilder(
        type,
        type.fields.map((field) => createBuilder(field.type)),
      );
    case 'list':
      return new ListBuilder(type, createBuilder(type.element));
    case 'map':
      return new MapBuilder(type, createBuilder(type.key), createBuilder(type.value));
    case 'variant':
    case 'void':
      throw serviceError.unsupported('DECODE_TYPE_UNSUPPORTED', `a column of type ${type.kind} cannot be ingested`, {
        hint: 'write JSON into a column of type string, and parse_json from it into a table with variants',
      });
    default:
      return assertNever(type);
  }
}
