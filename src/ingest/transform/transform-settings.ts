import { z } from 'zod';
import { isServiceError } from '../../base/errors.ts';
import { choiceField, textField } from '../../base/setting-fields.ts';
import type { ExpectationAction } from '../../protocol/transform-spec.ts';
import { type ColumnSettings, columnSettings, maxColumns } from '../column-settings.ts';
import { splitSelectList } from './select-item.ts';

const maxExpectations = 100;
const maxExpressionLength = 100_000;

/** A condition that rows of the table are to meet. */
export interface ExpectationSettings {
  readonly name: string;
  readonly condition: string;
  readonly onFailure: ExpectationAction;
}

/** What is made of a route's records before they are rows. */
export interface TransformSettings {
  /** What is read of the records. Absent: the columns of the table. */
  readonly columns?: readonly ColumnSettings[] | undefined;
  readonly select?: readonly string[] | undefined;
  readonly where?: string | undefined;
  readonly expect?: readonly ExpectationSettings[] | undefined;
}

const expression = (description: string): z.ZodType<string> => textField({ description, maxLength: maxExpressionLength });

const expectation: z.ZodType<ExpectationSettings> = z.strictObject({
  name: textField({
    description: 'Name of the expectation, in dead letters and metrics.',
    maxLength: 100,
    pattern: /^[a-zA-Z0-9_][a-zA-Z0-9._-]*$/,
    patternHint: 'is no name of an expectation (letters, digits, dots, underscores and hyphens)',
  }),
  condition: expression(
    'Condition over the columns of the table. A row fails it when it is false; null passes, as with CHECK constraints.',
  ),
  onFailure: choiceField(['reject', 'suspend', 'count'], {
    description:
      'What becomes of a record whose row fails: `reject` treats it as one that does not fit the table, `suspend` stops the table there, `count` writes the row and counts it.',
    default: 'reject',
  }),
});

/** Settings of a route beside its topics and table. */
export const transformShape: {
  readonly columns: z.ZodOptional<z.ZodType<readonly ColumnSettings[]>>;
  readonly select: z.ZodOptional<z.ZodType<readonly string[]>>;
  readonly where: z.ZodOptional<z.ZodType<string>>;
  readonly expect: z.ZodOptional<z.ZodType<readonly ExpectationSettings[]>>;
} = {
  columns: z.array(columnSettings).min(1, { error: 'must have at least one column' }).max(maxColumns).optional().meta({
    description: 'What is read of the records, for `select` and `where` to name. Default: the columns of the table.',
    maxItems: maxColumns,
  }),
  select: z
    .preprocess(
      selectItems,
      z
        .array(expression('A column of the table: `expression AS name`, the name of a column of the record, `*` or `* EXCEPT (a, b)`.'))
        .min(1, { error: 'must have at least one column' })
        .max(maxColumns),
    )
    .optional()
    .meta({
      description:
        'What fills the columns of the table, in SQL over the columns of the record: `upper(name) AS name`, as a list or as one text with commas. A column that is not named here is null. Default: each takes the column of the record of its name.',
      maxItems: maxColumns,
      items: { type: 'string' },
    }),
  where: expression(
    'Condition in SQL over the columns of the record. A record of which it is not true is no row, and counted as filtered.',
  ).optional(),
  expect: z
    .array(expectation)
    .max(maxExpectations)
    .optional()
    .meta({ description: 'Conditions that the rows of the table are to meet.', maxItems: maxExpectations }),
};

/** One text is split at the commas of its select list. What is no SQL is told of the entry that it is. */
function selectItems(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  try {
    return splitSelectList(raw);
  } catch (error) {
    if (isServiceError(error, 'invalid')) return [raw];
    throw error;
  }
}

/** Whether anything of it is set. */
export function isTransform({ columns, select, where, expect = [] }: TransformSettings): boolean {
  return columns !== undefined || select !== undefined || where !== undefined || expect.length > 0;
}
