/**
 * JSON in which bigints are exact: `{"$n": "123"}`. An object that came from outside with such a member is kept as `{"$o": {...}}`, so
 * nothing that a venue or a caller says is taken for a number. Functions that JSON would call for each member cost four times as much.
 */
export function toWire(value: unknown): string {
  return JSON.stringify(withTexts(value));
}

export function fromWire(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return MARK.test(text) ? withNumbers(value) : value;
}

const MARK = /"\$[no]"/;

/** The same value where there is no bigint in it; otherwise what leads to one is copied. */
function withTexts(value: unknown): unknown {
  if (typeof value === 'bigint') return { $n: value.toString() };
  if (Array.isArray(value)) return value.some(mayHold) ? value.map(withTexts) : value;
  if (!isObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (!mayHold(member)) continue;
    const written = withTexts(member);
    if (written === member) continue;
    copy ??= { ...value };
    copy[name] = written;
  }
  return '$n' in value || '$o' in value ? { $o: copy ?? value } : (copy ?? value);
}

function mayHold(member: unknown): boolean {
  return typeof member === 'bigint' || typeof member === 'object';
}

/** In place: nobody else has what was just read. */
function withNumbers(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) value[index] = withNumbers(member);
    return value;
  }
  if (!isObject(value)) return value;
  if (typeof value.$n === 'string') return BigInt(value.$n);
  return withNumbersInside(isObject(value.$o) ? value.$o : value);
}

function withNumbersInside(value: Record<string, unknown>): Record<string, unknown> {
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member === 'object') value[name] = withNumbers(member);
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
