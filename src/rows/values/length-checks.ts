import { AnalysisException } from '../../base/analysis-exception.ts';
import { parseDeclaredType } from '../../expr/parse/parse-type.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import { declaredTypeKey } from '../../schema/declared-length.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { RowCheck } from './row-checks.ts';

/** A value of a declared type: how the engine gets at it, and how messages call it. */
interface Place {
  readonly sql: string;
  readonly shown: string;
  /** The type it has by now: members may have been renamed or dropped since the column was declared. */
  readonly stored: DataType | undefined;
}

/** One rule for some text inside a column. */
interface Rule {
  /** Engine SQL: true where it is broken. */
  readonly broken: string;
  /** Engine SQL of the text that is shown. */
  readonly value: string;
  /** As Spark prints what must hold. */
  readonly text: string;
}

/**
 * Rules out text longer than the column's declaration (VARCHAR, CHAR) allows, at any depth: `DELTA_EXCEED_CHAR_VARCHAR_LIMIT` (22001).
 * Characters are counted, not bytes, trailing spaces too.
 */
export function lengthChecks(schema: StructType): readonly RowCheck[] {
  return schema.fields.flatMap((field) => {
    const type = declaredType(field);
    const place = { sql: quoteName(field.name), shown: field.name, stored: field.type };
    return type === undefined ? [] : rulesOf(place, type, 0).map(checkOf);
  });
}

/** The type a column was declared with; `undefined` when it has no length. */
export function declaredType(field: Field): DataType | undefined {
  const text = field.metadata?.[declaredTypeKey];
  return typeof text === 'string' ? parseDeclaredType(text) : undefined;
}

function rulesOf(place: Place, type: DataType, depth: number): readonly Rule[] {
  switch (type.kind) {
    case 'string': {
      const characters = type.length?.characters;
      if (characters === undefined) return [];
      const text = `((${place.shown} IS NULL) OR (length(${place.shown}) <= ${characters}))`;
      return [{ broken: `length(${place.sql}) > ${characters}`, value: place.sql, text }];
    }
    case 'struct':
      return type.fields.flatMap(({ name, type: member }) => {
        const stored = place.stored?.kind === 'struct' ? fieldNamed(place.stored.fields, name) : undefined;
        if (stored === undefined) return [];
        const sql = `struct_extract(${place.sql}, ${sqlText(stored.name)})`;
        return rulesOf({ sql, shown: `${place.shown}.${name}`, stored: stored.type }, member, depth);
      });
    case 'list':
      return rulesOfItems({ ...place, stored: place.stored?.kind === 'list' ? place.stored.element : undefined }, type.element, depth);
    case 'map': {
      const stored = place.stored?.kind === 'map' ? place.stored : undefined;
      return [
        ...rulesOfItems({ sql: `map_keys(${place.sql})`, shown: `map_keys(${place.shown})`, stored: stored?.key }, type.key, depth),
        ...rulesOfItems({ sql: `map_values(${place.sql})`, shown: `map_values(${place.shown})`, stored: stored?.value }, type.value, depth),
      ];
    }
    default:
      return [];
  }
}

/** `list.stored`: of its elements. */
function rulesOfItems(list: Place, type: DataType, depth: number): readonly Rule[] {
  const item = `__item${depth}`;
  return rulesOf({ sql: item, shown: 'x', stored: list.stored }, type, depth + 1).map((rule) => ({
    broken: `coalesce(len(list_filter(${list.sql}, lambda ${item}: coalesce(${rule.broken}, false))) > 0, false)`,
    value: `CAST(list_filter(${list.sql}, lambda ${item}: coalesce(${rule.broken}, false)) AS VARCHAR)`,
    text: `((${list.shown} IS NULL) OR forall(${list.shown}, lambdafunction(${rule.text}, x)))`,
  }));
}

function checkOf({ broken, value, text }: Rule): RowCheck {
  return {
    broken,
    values: [value],
    error: ([shown]) =>
      new AnalysisException({
        errorClass: 'DELTA_EXCEED_CHAR_VARCHAR_LIMIT',
        message: `Value "${shown ?? ''}" exceeds char/varchar type length limitation. Failed check: ${text}.`,
        hint: 'shorten the value, or make the column longer: ALTER TABLE … ALTER COLUMN … TYPE VARCHAR(n)',
        parameters: { value: shown ?? '', expr: text },
      }),
  };
}
