import { open } from 'node:fs/promises';

/** Makes a file or a directory's entries durable. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
