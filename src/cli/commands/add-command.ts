import type { Command, OptionValues } from 'commander';
import type { CommandSession } from '../command-session.ts';

/** What a command does; resolves with the exit code. */
export type RunCommand<Flags> = (session: CommandSession, flags: Flags, args: readonly string[]) => Promise<number>;

/** Connects a command's action to a session; errors are printed in one place. */
export type AddCommand = <Flags extends OptionValues>(command: Command, run: RunCommand<Flags>) => void;
