/** Control, format, private and unassigned characters, half surrogates and line separators print nothing. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export const MAX_REFERENCE_CHARS = 64;
export const MAX_REASON_CHARS = 200;

/** At most `max` characters, all of which a person can see. */
export function isPrintable(text: string, max: number): boolean {
  return [...text].length <= max && !UNPRINTABLE.test(text);
}
