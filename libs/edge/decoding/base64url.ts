/** Undefined unless `text` is the one canonical way to write those bytes: no padding, no stray bits, no other alphabet. */
export function base64urlBytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
