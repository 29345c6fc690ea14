import type { Explanation } from '../run/actions.ts';

interface Shown {
  /** Behind the plan as it was understood. */
  readonly extended?: boolean | undefined;
  /** What is done with the rows, where they are not the result. */
  readonly command?: string | undefined;
}

/** The engine's plan, then one line for each table: files and bytes considered, pruned and read. */
export function explanationText({ analyzed, plan, tables }: Explanation, { extended, command }: Shown = {}): string {
  const lines = tables.map((table) => {
    const files = `files: ${table.filesConsidered} considered, ${table.filesConsidered - table.filesSelected} pruned, ${table.filesSelected} read`;
    const bytes = `bytes: ${table.bytesConsidered} considered, ${table.bytesConsidered - table.bytesSelected} pruned, ${table.bytesSelected} read`;
    return `${table.table} version ${table.version}: ${files}; ${bytes}\n`;
  });
  const head = command === undefined ? '' : `== Command ==\n${command}, over the rows of the plan; EXPLAIN changes nothing\n\n`;
  const understood = extended === true ? `== Analyzed Logical Plan ==\n${analyzed}\n\n` : '';
  return `${head}${understood}== Physical Plan ==\n${plan.trimEnd()}\n${lines.length === 0 ? '' : `\n== Tables ==\n${lines.join('')}`}`;
}
