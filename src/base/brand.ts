declare const brand: unique symbol;

/** A type that is its base at run time and distinct at compile time. Made only by a checked constructor. */
export type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };
