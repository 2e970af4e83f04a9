const SECRET_NAME = /(authorization|password|passphrase|secret|cookie|token|apikey|privatekey)s?$/;
const CREDENTIALS_IN_URL = /:\/\/[^\s/@]+@/g;
const MAX_DEPTH = 8;
const HIDDEN = '[redacted]';

/** The plural `tokens` means outcome tokens, which are no secret. The singular `token` means credentials. */
function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '');
  return SECRET_NAME.test(plain) && !plain.endsWith('tokens');
}

/** Returns a copy in which fields with secret names and credentials in URLs are hidden. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string')
    return value.includes('://') ? value.replaceAll(CREDENTIALS_IN_URL, `://${HIDDEN}@`) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (!isPlain(value)) return value;
  return redactFields(value, depth);
}

export function redactFields(fields: object, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isSecretName(name) ? HIDDEN : redact(value, depth + 1),
    ]),
  );
}

/** False for values that serialize themselves or have a serializer. Those stay unchanged. */
function isPlain(value: object): boolean {
  return !('toJSON' in value) && !(value instanceof Error) && !ArrayBuffer.isView(value);
}
