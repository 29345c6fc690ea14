import { fillBins, maxFilesPerQuery, type Packable, packGroups } from '../../../rows/files/pack-files.ts';
import { illegalArgument } from '../operation-errors.ts';

/** Options of a rewrite as text, as procedures take them; each is read once, what is left over is refused. */
export class RewriteOptions {
  readonly #values: ReadonlyMap<string, string>;
  readonly #read = new Set<string>();

  constructor(values: ReadonlyMap<string, string> | undefined) {
    this.#values = values ?? new Map<string, string>();
  }

  /** @throws AnalysisException `INVALID_ARGUMENT` for what is not a number of that kind. */
  number(name: string, otherwise: number, kind: 'whole' | 'fraction' = 'whole'): number {
    const text = this.text(name);
    if (text === undefined) return otherwise;
    if (kind === 'whole' ? /^-?\d{1,19}$/.test(text) : /^-?\d{1,12}(\.\d{1,12})?$/.test(text)) return Number(text);
    throw illegalArgument(`For input string: "${text}"`, `option ${name} is a ${kind === 'whole' ? 'whole number' : 'number'}`);
  }

  boolean(name: string, otherwise: boolean): boolean {
    const text = this.text(name);
    return text === undefined ? otherwise : text.trim().toLowerCase() === 'true';
  }

  text(name: string): string | undefined {
    this.#read.add(name);
    return this.#values.get(name);
  }

  /** @throws AnalysisException `INVALID_ARGUMENT` for options that nobody has asked for. */
  refuseOthers(rewriter: string): void {
    const others = [...this.#values.keys()].filter((name) => !this.#read.has(name));
    if (others.length === 0) return;
    throw illegalArgument(
      `Cannot use options [${others.join(', ')}], they are not supported by the action or the rewriter ${rewriter}`,
      `it knows ${[...this.#read].join(', ')}`,
    );
  }
}

/** How large files should be, and may be. */
export interface FileSizes {
  readonly targetFileBytes: number;
  readonly minFileBytes: number;
  readonly maxFileBytes: number;
}

/** Which files are too small, too large, or worth a rewrite by their number. */
export interface SizeLimits extends FileSizes {
  readonly minInputFiles: number;
  /** Everything, whatever its size. */
  readonly rewriteAll: boolean;
  readonly maxGroupBytes: number;
  readonly maxGroupFiles: number;
}

/** The part of the target that a file must reach, and how far it may exceed it. */
const minShare = 0.75;
const maxShare = 1.8;
const defaultMinInputFiles = 5;
const defaultMaxGroupBytes = 100 * 2 ** 30;

/** @throws AnalysisException `INVALID_ARGUMENT` for limits that contradict each other. */
export function sizeLimits(options: RewriteOptions, defaultTargetBytes: number): SizeLimits {
  const names = {
    target: 'target-file-size-bytes',
    min: 'min-file-size-bytes',
    max: 'max-file-size-bytes',
    inputs: 'min-input-files',
    group: 'max-file-group-size-bytes',
    files: 'max-file-group-input-files',
  } as const;
  const targetFileBytes = options.number(names.target, defaultTargetBytes);
  refuseUnless(targetFileBytes > 0, `'${names.target}' is set to ${targetFileBytes} but must be > 0`);
  const minFileBytes = options.number(names.min, Math.floor(targetFileBytes * minShare));
  const maxFileBytes = options.number(names.max, Math.floor(targetFileBytes * maxShare));
  refuseUnless(minFileBytes >= 0, `'${names.min}' is set to ${minFileBytes} but must be >= 0`);
  refuseUnless(
    targetFileBytes > minFileBytes,
    `'${names.target}' (${targetFileBytes}) must be > '${names.min}' (${minFileBytes}), all new files will be smaller than the min threshold`,
  );
  refuseUnless(
    targetFileBytes < maxFileBytes,
    `'${names.target}' (${targetFileBytes}) must be < '${names.max}' (${maxFileBytes}), all new files will be larger than the max threshold`,
  );
  const minInputFiles = options.number(names.inputs, defaultMinInputFiles);
  refuseUnless(minInputFiles > 0, `'${names.inputs}' is set to ${minInputFiles} but must be > 0`);
  const maxGroupBytes = options.number(names.group, defaultMaxGroupBytes);
  refuseUnless(maxGroupBytes > 0, `'${names.group}' is set to ${maxGroupBytes} but must be > 0`);
  const maxGroupFiles = options.number(names.files, maxFilesPerQuery);
  refuseUnless(maxGroupFiles > 0, `'${names.files}' is set to ${maxGroupFiles} but must be > 0`);
  const rewriteAll = options.boolean('rewrite-all', false);
  return { targetFileBytes, minFileBytes, maxFileBytes, minInputFiles, rewriteAll, maxGroupBytes, maxGroupFiles };
}

/** Files of one partition in the groups that are worth a rewrite. `isDue`: the file is rewritten for its own sake. */
export function groupsBySize<File extends Packable>(
  files: readonly File[],
  limits: SizeLimits,
  isDue: (file: File) => boolean = () => false,
): readonly (readonly File[])[] {
  const { maxGroupBytes: maxBytes, maxGroupFiles: maxFiles, maxFileBytes, targetFileBytes, minInputFiles } = limits;
  if (limits.rewriteAll) return fillBins(files, { maxBytes, maxFiles }).map((bin) => bin.files);
  return packGroups(
    files,
    { maxBytes, maxFiles },
    {
      isDue: (file) => file.sizeBytes > maxFileBytes || isDue(file),
      isWorthIt: ({ files: kept }) =>
        kept.length > 1 && (kept.length >= minInputFiles || kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > targetFileBytes),
    },
  );
}

export function refuseUnless(holds: boolean, message: string): void {
  if (!holds) throw illegalArgument(message);
}

/** How many files of about the target size so many bytes become: the last one is not to be too small. */
export function outputCount(bytes: number, { targetFileBytes, minFileBytes, maxFileBytes }: FileSizes): number {
  if (bytes < targetFileBytes) return 1;
  const whole = Math.floor(bytes / targetFileBytes);
  if (bytes % targetFileBytes > minFileBytes) return whole + 1;
  // The rest is spread over the others when that makes none of them too large.
  return bytes / whole < Math.min(1.1 * targetFileBytes, maxFileBytes) ? whole : Math.ceil(bytes / targetFileBytes);
}
