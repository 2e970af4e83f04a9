import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { ADMIN } from '../callers.js';

/** A limit: which calls are counted together, and how many a minute are allowed. */
export interface MinuteLimit {
  /** The name of the window, the same for all callers. */
  readonly name: string;
  readonly calls: number;
}

type RoutedSpec = Pick<EndpointSpec, 'method' | 'path' | 'role'>;

const USUAL = 100;
/** On the companion, callers with credentials have ten times the limit. */
const KNOWN_CALLER = 10;

const GROUPS: readonly { readonly name: string; readonly calls: number; readonly paths: RegExp }[] = [
  { name: 'candles', calls: 200, paths: /^\/candles(?:\/batch)?$/ },
  { name: 'v1', calls: 60, paths: /^\/v1\// },
  { name: 'search', calls: 60, paths: /^\/search\// },
  {
    name: 'heavy',
    calls: 10,
    paths: /^\/(?:trader-stats\/|search-traders$|top-holders$|sports\/tournament-bracket$)/,
  },
];

const ROUTES: Readonly<Record<string, number>> = { '/markets/active': 200, '/markets/batch-prices': 200 };

/** Health, documents, and the route that has moved have no limit. */
const UNLIMITED: ReadonlySet<string> = new Set([
  ...['/health', '/readyz', '/openapi.json', '/docs', '/asyncapi.json'],
  '/markets/tick-size',
]);

/** Limits set by operators: calls a minute, by group or path. */
export type LimitChanges = ReadonlyMap<string, number>;

export class LimitRules {
  private readonly known = new Map<string, MinuteLimit | undefined>();

  /** `factor` multiplies all limits, including those of operators. */
  constructor(
    private readonly changes: LimitChanges = new Map(),
    private readonly factor = 1,
  ) {}

  of(spec: RoutedSpec, isKnownCaller: boolean): MinuteLimit | undefined {
    const key = `${isKnownCaller ? 'known' : 'anonymous'} ${spec.method} ${spec.path}`;
    if (!this.known.has(key)) this.known.set(key, this.made(spec, isKnownCaller));
    return this.known.get(key);
  }

  /** Names set by operators that fit no group and no endpoint. */
  unknownNames(specs: readonly RoutedSpec[]): string[] {
    const names = new Set([...GROUPS.map(({ name }) => name), ...specs.map(({ path }) => unnamed(path))]);
    return [...this.changes.keys()].filter((name) => !names.has(unnamed(name)));
  }

  private made({ method, path, role }: RoutedSpec, isKnownCaller: boolean): MinuteLimit | undefined {
    if (role === ADMIN || UNLIMITED.has(path)) return undefined;
    const own = this.changeOf(path);
    const group = own === undefined ? GROUPS.find(({ paths }) => paths.test(path)) : undefined;
    if (group === undefined) return this.limit(`${method} ${path}`, own ?? ROUTES[path] ?? USUAL);
    const calls = this.changeOf(group.name) ?? group.calls;
    return this.limit(group.name, group.name === 'v1' && isKnownCaller ? calls * KNOWN_CALLER : calls);
  }

  private limit(name: string, calls: number): MinuteLimit {
    return { name, calls: calls * this.factor };
  }

  private changeOf(name: string): number | undefined {
    const wanted = unnamed(name);
    return [...this.changes].find(([changed]) => unnamed(changed) === wanted)?.[1];
  }
}

/** `/a/:id` and `/a/{id}` are the same route. */
function unnamed(path: string): string {
  return path.replaceAll(/:\w+|\{\w+\}/g, '{}');
}

const CHANGE = /^([^\s=,]{1,128})=([1-9]\d{0,6})$/;

/** Parses `<group or path>=<calls>`, separated by commas. Undefined for text that does not parse. */
export function limitChangesIn(text: string): LimitChanges | undefined {
  const changes = new Map<string, number>();
  for (const part of text.split(',')) {
    const [, name, calls] = CHANGE.exec(part.trim()) ?? [];
    if (name === undefined || calls === undefined || changes.has(name)) return undefined;
    changes.set(name, Number(calls));
  }
  return changes;
}
