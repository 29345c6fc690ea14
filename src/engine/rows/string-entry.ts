/** The engine holds a string in 16 bytes: its length, and either up to 12 bytes of it, or 4 bytes and a pointer to all of them. */
export const entryBytes = 16;
export const inlineBytes = 12;
