/** 10^0 to 10^22: every power of ten that a double holds exactly. */
export const powersOfTen: Float64Array = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Any number of up to this many decimal digits is exact as a double. */
export const maxExactDigits = 15;
