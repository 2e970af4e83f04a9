/**
 * One text for equal values, in the form of RFC 8785: names in the order of their UTF-16 units, no white space. Bundles hold
 * strings, whole numbers and truth values, so nothing else of that standard is needed. Digests and signatures are taken of
 * this text, and anybody can write it again in any language.
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

/** Where two values part, as a path such as `grid.price_tick_atoms`; undefined where they do not. */
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
