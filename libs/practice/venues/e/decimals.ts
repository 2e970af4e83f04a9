import type { Cash } from '../../matching/accounts.js';

const PLACES = 6;
const MICROS_OF_CASH = 1_000_000n;

/** Millionths in the venue's form: no exponent, and at least one decimal. */
export function decimal(micros: number | bigint): string {
  const value = BigInt(micros);
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0');
  const fraction = digits.slice(-PLACES).replace(/0+$/, '').padEnd(1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${fraction}`;
}

/** The engine's cash, cut to millionths. */
export function dollars(cash: Cash): string {
  return decimal(cash / MICROS_OF_CASH);
}

/** In millionths. Undefined if the text has finer digits or is too large. */
export function micros(text: string): number | undefined {
  const [whole = '', fraction = ''] = text.split('.');
  const kept = fraction.replace(/0+$/, '');
  if (kept.length > PLACES) return undefined;
  const value = Number(`${whole}${kept.padEnd(PLACES, '0')}`);
  return Number.isSafeInteger(value) ? value : undefined;
}
