/**
 * JSON with exact bigints: `{"$n": "123"}`. An outside object with such a member is escaped as `{"$o": {...}}`, so it is never taken for
 * a bigint. A replacer or reviver function would cost four times as much.
 */
export function toWire(value: unknown): string {
  return JSON.stringify(withTexts(value));
}

export function fromWire(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return MARK.test(text) ? withNumbers(value) : value;
}

const MARK = /"\$[no]"/;

/** Returns the value itself if it has no bigint. Otherwise copies only the objects on the path to one. */
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

/** Changes the value in place, since no other code has it yet. */
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
