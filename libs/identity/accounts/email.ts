export const MAX_EMAIL_LENGTH = 254;

/** What makes two spellings of an address the same one. Undefined for what can be no address. */
export function emailKey(email: string): string | undefined {
  if (email.length === 0 || email.length > MAX_EMAIL_LENGTH || email.includes('\u0000')) return undefined;
  return email.normalize('NFC').toLowerCase();
}
