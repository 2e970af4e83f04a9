/** What V8 writes for `--cpu-prof`, as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export interface Shares {
  /** The program that was run, such as `owner`; undefined for one that is none of ours. */
  readonly program: string | undefined;
  /** Without idling and without loading modules. */
  readonly busyMicros: number;
  /** Parts of `busyMicros`, from 0 to 1, the largest first. */
  readonly parts: readonly (readonly [area: string, share: number])[];
}

const IDLE = '(idle)';
const COLLECTOR = '(garbage collector)';
const LOADING = 'node:internal/modules/';
const PROGRAM = /\/dist\/(?:apps\/([^/]+)\/main|(bench)\/bench)\.js$/;
/** Under the auctions' roof each part counts for itself. */
const OURS = /\/dist\/(libs\/auction\/[^/]+|(?:apps|libs)\/[^/]+|bench)\//;
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** Calls of libuv that have no source of their own; the kernel works in them for whoever is written to, too. */
const WRITES = new Set(['writev', 'writeBuffer', 'writeUtf8String', 'writeLatin1String']);

/**
 * Whose time it was. A sample belongs to the nearest frame, from the leaf up, that is ours or a package's, so what Node and V8 do is
 * counted for whoever has asked for it; writing to sockets and collecting garbage stand by themselves.
 */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): Shares {
  const areas = areasOf(nodes);
  const micros = new Map<string, number>();
  for (const [index, node] of samples.entries()) {
    const area = areas.get(node);
    if (area !== undefined) micros.set(area, (micros.get(area) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const busyMicros = [...micros.values()].reduce((sum, part) => sum + part, 0);
  const parts = [...micros].map(([area, part]): [string, number] => [area, part / busyMicros]);
  return {
    program: programOf(nodes),
    busyMicros,
    parts: parts.sort(([, one], [, other]) => other - one),
  };
}

function programOf(nodes: readonly ProfileNode[]): string | undefined {
  for (const { callFrame } of nodes) {
    const found = PROGRAM.exec(callFrame.url);
    if (found !== null) return found[1] ?? found[2];
  }
  return undefined;
}

/** By node; one that is missing is nobody's business. */
function areasOf(nodes: readonly ProfileNode[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const areas = new Map<number, string>();
  const [root] = nodes;
  const open: { readonly node: ProfileNode; readonly caller: string }[] =
    root === undefined ? [] : [{ node: root, caller: 'node' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, caller } = next;
    const { functionName, url } = node.callFrame;
    if (functionName === IDLE || url.startsWith(LOADING)) continue;
    const area = ownerOf(url) ?? caller;
    areas.set(node.id, standsAlone(functionName, url) ?? area);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) open.push({ node: child, caller: area });
    }
  }
  return areas;
}

function ownerOf(url: string): string | undefined {
  return OURS.exec(url)?.[1] ?? PACKAGE.exec(url)?.[1];
}

function standsAlone(functionName: string, url: string): string | undefined {
  if (functionName === COLLECTOR) return 'collecting garbage';
  return url === '' && WRITES.has(functionName) ? 'writing to sockets' : undefined;
}
