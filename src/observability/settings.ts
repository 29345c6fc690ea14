import { z } from 'zod';
import { choiceField } from '../base/setting-fields.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggingSettings {
  readonly level: LogLevel;
  /** `auto`: `pretty` on a terminal, else `json`. */
  readonly format: 'auto' | 'json' | 'pretty';
}

export const loggingSettings: z.ZodType<LoggingSettings> = z.strictObject({
  level: choiceField(['debug', 'info', 'warn', 'error', 'silent'], {
    description:
      'Least severity that is written: error wakes someone, warn is looked at tomorrow, info is a state change, debug is off in production.',
    default: 'info',
  }),
  format: choiceField(['auto', 'json', 'pretty'], {
    description: '`json` for machines, `pretty` for people, `auto` chooses `pretty` on a terminal.',
    default: 'auto',
  }),
});
