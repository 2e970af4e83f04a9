/**
 * One text for equal values, as in RFC 8785: names in the order of their UTF-16 units, no white space. Bundles hold
 * only strings, whole numbers and booleans, so the rest of that standard is not needed. Digests and signatures
 * cover this text.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

export function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** The path of the first difference of two values, such as `grid.price_tick_atoms`. Undefined if they are equal. */
export function firstDifference(one: unknown, other: unknown, path = ''): string | undefined {
  if (isSame(one, other)) return undefined;
  if (!isNested(one) || !isNested(other) || Array.isArray(one) !== Array.isArray(other)) return path;
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = firstDifference(one[name], other[name], path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return path;
}

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
