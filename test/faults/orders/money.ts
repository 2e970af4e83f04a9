const PLACES = 6;

/** A decimal number of the interface, in millionths. */
export function micros(text: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  const value = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(PLACES, '0'));
  return sign === '-' ? -value : value;
}
