/** Something as it must be shown, field by field. What is undefined must be absent. */
export type Shown = Readonly<Record<string, unknown>>;

/** All that somebody may see of an auction at one point of its timeline. */
export interface ViewedAuction {
  readonly view: Shown;
  /** Its own quotes, the newest first; to the originator those that were awarded. */
  readonly quotes: readonly Shown[];
}

/** Where what was told differs from what must be told, in words; nothing where it does not. */
export function differenceOf(expected: unknown, told: unknown, path = ''): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(told)) return `${path} is no list`;
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
