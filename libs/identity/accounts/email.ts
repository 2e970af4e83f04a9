export const MAX_EMAIL_LENGTH = 254;

/** Normalizes an address for comparison. Undefined for text that cannot be an address. */
export function emailKey(email: string): string | undefined {
  if (email.length === 0 || email.length > MAX_EMAIL_LENGTH || email.includes('\u0000')) return undefined;
  return email.normalize('NFC').toLowerCase();
}
