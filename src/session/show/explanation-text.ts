import type { Explanation } from '../plan/actions.ts';

/** The engine's plan, then one line for each table: files and bytes considered, pruned and read. */
export function explanationText({ plan, tables }: Explanation): string {
  const lines = tables.map((table) => {
    const files = `files: ${table.filesConsidered} considered, ${table.filesConsidered - table.filesSelected} pruned, ${table.filesSelected} read`;
    const bytes = `bytes: ${table.bytesConsidered} considered, ${table.bytesConsidered - table.bytesSelected} pruned, ${table.bytesSelected} read`;
    return `${table.table} version ${table.version}: ${files}; ${bytes}\n`;
  });
  return `== Physical Plan ==\n${plan.trimEnd()}\n${lines.length === 0 ? '' : `\n== Tables ==\n${lines.join('')}`}`;
}
