/**
 * Functions of the engine, beside its own, that look into variants: structs of `metadata` and `value`. NULL for NULL.
 */
export const variantFunctions = {
  /** VARCHAR of JSON to a variant; NULL for text that is none. */
  parse: 'tidewater_parse_variant',
  /** A variant as JSON. */
  json: 'tidewater_variant_json',
  /** A variant as text; NULL for the variant `null`. */
  text: 'tidewater_variant_text',
  /** The variant at a path (VARCHAR); NULL where there is none. */
  at: 'tidewater_variant_at',
  /** The type of a variant in Spark's words. */
  type: 'tidewater_variant_type',
} as const;
