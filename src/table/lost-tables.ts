import { type ServiceError, serviceError } from '../base/errors.ts';

const again = 'start again then: a process that starts reads the table anew, and creates it where the configuration says how';

/** What a table was built on is not there any more: somebody deleted its folder, or what its newest version refers to. */
export function tableGone(name: string, location: string, detail: string): ServiceError {
  return serviceError.discontinuity('TABLE_GONE', `table "${name}" at ${location} is gone: ${detail}; nothing was committed`, {
    hint: `put the table's folder back as it was, after removing what is at its place (files of commits that failed), or accept the loss; ${again}`,
    context: { table: name, location },
  });
}

/** Another table is where this one was: what was known of the old one, its progress marks too, says nothing about it. */
export function tableReplaced(name: string, location: string, ids: { readonly known: string; readonly found: string }): ServiceError {
  return serviceError.discontinuity(
    'TABLE_REPLACED',
    `table "${name}" at ${location} was dropped and created again (id ${ids.known} before, ${ids.found} now); nothing was committed`,
    {
      hint: `put the former table back, or accept the new one, which has none of its progress; ${again}`,
      context: { table: name, location, knownId: ids.known, foundId: ids.found },
    },
  );
}
