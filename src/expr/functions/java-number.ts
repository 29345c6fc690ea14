import { bindOnce } from './bind-once.ts';

/** A floating point number as Spark prints it: `1.0`, `1.0E7`, `1.5E-5`, `NaN`, `Infinity`. NULL for NULL. */
export function floatText(value: string): string {
  return bindOnce(value, '__float', (x) => {
    const text = `CAST(abs(${x}) AS VARCHAR)`;
    const sign = `CASE WHEN ${x} < 0 THEN '-' ELSE '' END`;
    return [
      `CASE WHEN isnan(${x}) THEN 'NaN' WHEN isinf(${x}) THEN CASE WHEN ${x} > 0 THEN 'Infinity' ELSE '-Infinity' END`,
      `WHEN ${x} = 0 OR (abs(${x}) >= 0.001 AND abs(${x}) < 10000000) THEN CAST(${x} AS VARCHAR)`,
      `WHEN contains(${text}, 'e') THEN ${sign} || ${scientific(text)}`,
      `WHEN abs(${x}) < 1 THEN ${sign} || ${smallNumber(`split_part(${text}, '.', 2)`)}`,
      `ELSE ${sign} || ${largeNumber(text)} END`,
    ].join(' ');
  });
}

/** A decimal as Java's BigDecimal prints it: plain down to a millionth, `1.0E-7` below. NULL for NULL. */
export function decimalText(value: string, scale: number): string {
  if (scale <= 6) return `CAST(${value} AS VARCHAR)`;
  return bindOnce(value, '__decimal', (x) => {
    const digits = `ltrim(replace(CAST(abs(${x}) AS VARCHAR), '.', ''), '0')`;
    const exponent = `(length(${digits}) - 1 - ${scale})`;
    const fraction = `CASE WHEN length(${digits}) > 1 THEN '.' || substring(${digits}, 2) ELSE '' END`;
    const small = `CASE WHEN ${x} < 0 THEN '-' ELSE '' END || left(${digits}, 1) || ${fraction} || 'E' || ${exponent}`;
    return `CASE WHEN ${x} = 0 THEN '0E-${scale}' WHEN abs(${x}) < 0.000001 THEN ${small} ELSE CAST(${x} AS VARCHAR) END`;
  });
}

/** `1e+20` as `1.0E20`. */
function scientific(text: string): string {
  const mantissa = `split_part(${text}, 'e', 1)`;
  return `${mantissa} || CASE WHEN contains(${mantissa}, '.') THEN '' ELSE '.0' END || 'E' || CAST(split_part(${text}, 'e', 2) AS INTEGER)`;
}

function smallNumber(fraction: string): string {
  const digits = `ltrim(${fraction}, '0')`;
  return `${withPoint(digits)} || 'E-' || (length(${fraction}) - length(${digits}) + 1)`;
}

function largeNumber(text: string): string {
  const whole = `split_part(${text}, '.', 1)`;
  return `${withPoint(`rtrim(replace(regexp_replace(${text}, '\\.0$', ''), '.', ''), '0')`)} || 'E' || (length(${whole}) - 1)`;
}

/** Digits with a point after the first: `15` as `1.5`, `1` as `1.0`. */
function withPoint(digits: string): string {
  return `left(${digits}, 1) || '.' || coalesce(nullif(substring(${digits}, 2), ''), '0')`;
}
