import { hash } from 'node:crypto';

/**
 * Equal for bodies that say the same, however they are written: the order of fields and white space do not count. What was
 * left out and what was given as its default do differ. Journals hold these hashes, so what is hashed can never be another text.
 */
export function contentHash(content: unknown): string {
  return hash('sha256', canonical(content), 'base64url').slice(0, 22);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let fields = '';
  for (const name of Object.keys(value).sort()) {
    const field: unknown = Reflect.get(value, name);
    fields += `${fields === '' ? '' : ','}${JSON.stringify(name)}:${canonical(field)}`;
  }
  return `{${fields}}`;
}
