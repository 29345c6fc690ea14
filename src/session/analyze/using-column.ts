import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Field } from '../../schema/types.ts';

/** The error for a name in USING that a side of the join lacks. */
export function unresolvedUsing(name: string, side: 'left' | 'right', fields: readonly Field[]): AnalysisException {
  const suggestion = fields.map((field) => `\`${field.name}\``).join(', ');
  return new AnalysisException({
    errorClass: 'UNRESOLVED_USING_COLUMN_FOR_JOIN',
    message: `USING column \`${name}\` cannot be resolved on the ${side} side of the join. The ${side}-side columns: [${suggestion}].`,
    parameters: { colName: `\`${name}\``, side, suggestion },
  });
}
