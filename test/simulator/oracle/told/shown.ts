/** A thing as it must be shown, field by field. An undefined field must be absent. */
export type Shown = Readonly<Record<string, unknown>>;

/** All that an account may see of an auction at one point of its timeline. */
export interface ViewedAuction {
  readonly view: Shown;
  /** For a maker its own quotes, the newest first; for the originator the awarded ones. */
  readonly quotes: readonly Shown[];
}

/** The first difference between the shown and the expected value, as text; undefined if they are equal. */
export function differenceOf(expected: unknown, told: unknown, path = ''): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(told)) return `${path} is not a list`;
    if (told.length !== expected.length)
      return `${path} has ${told.length} items instead of ${expected.length}`;
    return first(expected, (item, index) => differenceOf(item, told[index], `${path}[${index}]`));
  }
  if (!isFields(expected)) {
    if (expected === told) return undefined;
    return `${path} is ${inWords(told)} instead of ${inWords(expected)}`;
  }
  if (!isFields(told)) return `${path} is ${inWords(told)} instead of ${inWords(expected)}`;
  const names = [...new Set([...Object.keys(expected), ...Object.keys(told)])];
  return first(names, (name) => differenceOf(expected[name], told[name], `${path}.${name}`));
}

function first<T>(
  items: readonly T[],
  find: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isFields(value: unknown): value is Shown {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inWords(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}
