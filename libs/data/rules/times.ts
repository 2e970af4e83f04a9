/** Times are microseconds since 1970 UTC. Numbers hold them exactly up to the year 2255, and whole seconds up to 9999. */
export const MICROS_PER_SECOND = 1_000_000;

const MICROS_PER_MILLI = 1_000;
const FRACTION_DIGITS = 6;
const SECONDS_TEXT = 19;
/** The years 0 to 9999, which have four digits in text. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

const DATE = String.raw`(\d{4})-(\d{2})-(\d{2})`;
const CLOCK = String.raw`(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?`;
const ZONE = String.raw`(Z|([+-])(\d{2})(?::?(\d{2}))?)?`;
const ISO_TIME = new RegExp(`^${DATE}(?:[T ]${CLOCK}${ZONE})?$`, 'i');

/** With `Z`, and only as many decimals as needed. */
export function isoTime(micros: number): string {
  const rest = modulo(micros, MICROS_PER_SECOND);
  const whole = new Date((micros - rest) / MICROS_PER_MILLI).toISOString().slice(0, SECONDS_TEXT);
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(FRACTION_DIGITS, '0').replace(/0+$/, '')}`;
  return `${whole}${fraction}Z`;
}

/**
 * Parses ISO 8601: a date, or date and time with at most six decimals; without a zone it is UTC. Undefined if it is not a time.
 * After 2255 the fraction is dropped, because no number would hold it.
 */
export function microsOfTime(text: string, zone: 'optional' | 'required' = 'optional'): number | undefined {
  const parts = ISO_TIME.exec(text);
  if (parts === null) return undefined;
  if (zone === 'required' && parts[8] === undefined) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(numberOf);
  const millis = dateMillis(year, month, day);
  const offset = offsetMinutes(parts[9], numberOf(parts[10]), numberOf(parts[11]));
  if (millis === undefined || offset === undefined || hour > 23 || minute > 59 || second > 59) {
    return undefined;
  }
  const seconds = millis / 1_000 + (hour * 60 + minute - offset) * 60 + second;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return undefined;
  const micros = seconds * MICROS_PER_SECOND + numberOf((parts[7] ?? '').padEnd(FRACTION_DIGITS, '0'));
  return Number.isSafeInteger(micros) ? micros : seconds * MICROS_PER_SECOND;
}

function numberOf(digits: string | undefined): number {
  return Number(digits ?? 0);
}

/** Undefined for a day that the calendar lacks. */
function dateMillis(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 ? date.getTime() : undefined;
}

function offsetMinutes(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** Fractional unix seconds, as some replies have them. */
export function unixSeconds(micros: number): number {
  return micros / MICROS_PER_SECOND;
}

const UNIX_SECONDS = /^\d{1,12}(?:\.\d+)?$/;

/** The first microsecond at or after that moment, so that comparisons stay right. Not negative. */
export function microsOfUnixSeconds(text: string): number | undefined {
  if (!UNIX_SECONDS.test(text)) return undefined;
  const [seconds = '', fraction = ''] = text.split('.');
  const micros = Number(fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0'));
  const rest = /[1-9]/.test(fraction.slice(FRACTION_DIGITS)) ? 1 : 0;
  return Number(seconds) * MICROS_PER_SECOND + micros + rest;
}

/** The latest multiple of a span that is not after a time. */
export function floorTo(micros: number, span: number): number {
  return micros - modulo(micros, span);
}

export function ceilTo(micros: number, span: number): number {
  return 0 - floorTo(-micros, span);
}

/** Never negative, and never `-0`. */
function modulo(value: number, span: number): number {
  return ((value % span) + span) % span;
}
