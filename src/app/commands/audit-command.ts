import { auditTable } from '../../commit/audit-table.ts';
import type { AuditReport, AuditRequest } from '../app-commands.ts';
import { openAnyTable } from './open-any-table.ts';

/** Audits one table, whether a configuration knows it or not. Writes nothing. */
export async function audit(request: AuditRequest): Promise<AuditReport> {
  await using opened = await openAnyTable(request);
  const { table, engine } = opened;
  const { level, columns, signal } = request;
  return { table: request.name, level, ...(await auditTable({ table, level, engine, columns }, signal)) };
}
