/** Levels of objects and arrays a payload may nest; the payload's own object is the first. */
export const defaultMaxDepth = 64;

/** Reading is recursive, so the stack bounds the depth that can be asked for. */
export const highestMaxDepth = 512;
