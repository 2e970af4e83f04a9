type Fields = Record<string, unknown>;
type Path = readonly (string | number)[];

/** A bundle that was changed. */
export interface Alteration {
  readonly what: string;
  /** The number of the altered record, if it was one record and not their order. */
  readonly record: number | undefined;
  readonly bundle: unknown;
}

/**
 * Every single alteration of a JSON value: each field changed, emptied, removed; one added to each object;
 * elements dropped, doubled, swapped.
 */
export function* alterationsOf(bundle: object): Generator<Alteration> {
  for (const path of pathsIn(bundle)) {
    const altered = alteredAt(bundle, path);
    const value = valueAt(bundle, path);
    if (!isNested(value))
      for (const other of othersThan(value)) yield altered(`is ${String(other)}`, replace(other));
    yield altered('is null', replace(null));
    yield altered('is gone', remove);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      yield altered('has one field more', (holder, key) =>
        Object.assign(valueAt(holder, [key]) as object, { extra: 1 }),
      );
    if (typeof path.at(-1) === 'number') {
      yield altered('is doubled', (list, at) => (list as unknown[]).splice(at as number, 0, value));
      yield altered('changes places with the next', swap);
    }
  }
}

function alteredAt(bundle: object, path: Path) {
  return (what: string, change: (holder: object, key: string | number) => unknown): Alteration => {
    const copy = structuredClone(bundle);
    change(valueAt(copy, path.slice(0, -1)) as object, path.at(-1)!);
    const isWithinRecord = path[0] === 'records' && path.length > 2;
    return {
      what: `${path.join('.')} ${what}`,
      record: isWithinRecord ? (path[1] as number) + 1 : undefined,
      bundle: copy,
    };
  };
}

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* pathsIn(item, [...path, at]);
  else if (isNested(value))
    for (const name of Object.keys(value)) yield* pathsIn(value[name], [...path, name]);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((holder, key) => (holder as Fields)[key], value);
}

/** The smallest changes at either end. */
function othersThan(value: unknown): unknown[] {
  if (typeof value === 'number') return [value + 1, String(value)];
  if (typeof value === 'boolean') return [!value];
  const text = String(value);
  const turned = (letter: string) => (letter === 'a' ? 'b' : 'a');
  return [turned(text.charAt(0)) + text.slice(1), text.slice(0, -1) + turned(text.slice(-1))];
}

function replace(other: unknown) {
  return (holder: object, key: string | number) => Reflect.set(holder, key, other);
}

function remove(holder: object, key: string | number): void {
  if (Array.isArray(holder)) holder.splice(key as number, 1);
  else Reflect.deleteProperty(holder, key);
}

/** The last element has no next, and swapping equal ones changes nothing: then the list gets one more element. */
function swap(list: object, key: string | number): void {
  const items = list as unknown[];
  const at = key as number;
  if (at + 1 === items.length || JSON.stringify(items[at]) === JSON.stringify(items[at + 1]))
    items.push(null);
  else [items[at], items[at + 1]] = [items[at + 1], items[at]];
}

function isNested(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
