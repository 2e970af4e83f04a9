/** One sort of violation: the same statement about different things. */
export interface Sort {
  times: number;
  readonly examples: string[];
}

const EXAMPLES = 3;
/** The limit for each promise, so that no promise hides another. */
const SORTS_OF_ONE = 25;
const SORTS = 150;
const LONGEST = 200;

const NAMED = [
  [/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, '<id>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '<time>'],
  [/\b(?=\w*\d)[\w-]{24,}/g, '<token>'],
] as const;
/** From the start of the first quoted object to the end of the last. */
const JSON_OBJECTS = /\{"[^]*\}/;
const CODE = /"error":"(\w+)"/g;
/** Any number except a status, which is followed by its subject. */
const NUMBER = /(?![1-5]\d\d(?: \{|:| [a-z]+_| [A-Z]+_))(?<![\d.])-?\d+(?:\.\d+)?/g;
const MANY_IDS = /<id>(?:[\s",/]+<id>)+/g;

/** The violation without ids, times, numbers and quoted bodies, but with error codes. */
export function sortOf(violation: string): string {
  const named = NAMED.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), violation);
  return named
    .replace(JSON_OBJECTS, (quoted) => `{${[...quoted.matchAll(CODE)].map(([, code]) => code).join(' ')}}`)
    .replaceAll(NUMBER, 'N')
    .replaceAll(MANY_IDS, '<id>')
    .slice(0, LONGEST);
}

/** Counts violations by sort, with some examples. The memory used is bounded. */
export class Sorts {
  found = 0;
  private readonly sorts = new Map<string, Sort>();
  /** The number of sorts of each promise; a violation begins with its promise. */
  private readonly ofPromise = new Map<string, number>();
  /** Violations by promise that did not fit any more. */
  private readonly unsorted = new Map<string, number>();

  add(violation: string, times = 1): void {
    this.found += times;
    const sort = this.sortFor(violation);
    if (sort === undefined) {
      const promise = promiseOf(violation);
      this.unsorted.set(promise, (this.unsorted.get(promise) ?? 0) + times);
      return;
    }
    sort.times += times;
    if (sort.examples.length < EXAMPLES && !sort.examples.includes(violation)) sort.examples.push(violation);
  }

  /** Adds all that another instance has counted. */
  take(other: Sorts): void {
    for (const { times, examples } of other.sorts.values())
      for (const [index, example] of examples.entries())
        this.add(example, index === 0 ? times - examples.length + 1 : 1);
    for (const [promise, times] of other.unsorted) this.add(`${promise}: others, of further sorts`, times);
  }

  has(violation: string): boolean {
    return this.sorts.has(sortOf(violation));
  }

  get all(): readonly Sort[] {
    return [...this.sorts.values()];
  }

  /** For each sort a line with its first example, and lines with further ones. */
  get lines(): string[] {
    return this.linesWith(() => '');
  }

  /** The same, with an explanation of each sort's first example. */
  linesWith(explain: (example: string) => string): string[] {
    const shown = this.all.flatMap(({ times, examples: [first = '', ...others] }) => [
      `VIOLATION ${first}${times > 1 ? ` (${times} of this sort)` : ''}`,
      ...explain(first)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => `    ${line}`),
      ...others.map((other) => `    also ${other}`),
    ]);
    const more = [...this.unsorted].map(
      ([promise, times]) => `VIOLATION ${promise}: ${times} more, of other sorts than those that are shown`,
    );
    return [...shown, ...more];
  }

  private sortFor(violation: string): Sort | undefined {
    const name = sortOf(violation);
    const known = this.sorts.get(name);
    if (known !== undefined) return known;
    const promise = promiseOf(violation);
    const siblings = this.ofPromise.get(promise) ?? 0;
    if (siblings >= SORTS_OF_ONE || this.sorts.size >= SORTS) return undefined;
    this.ofPromise.set(promise, siblings + 1);
    const sort: Sort = { times: 0, examples: [] };
    this.sorts.set(name, sort);
    return sort;
  }
}

function promiseOf(violation: string): string {
  return sortOf(violation.split(':', 1)[0] ?? '');
}
