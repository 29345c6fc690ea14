export async function runDemo(_x: unknown): Promise<number> { return 0; }
