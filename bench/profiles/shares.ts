/** The fields of a `--cpu-prof` file that are read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export interface Shares {
  /** The program that ran, such as `owner`. Undefined for a foreign program. */
  readonly program: string | undefined;
  /** Without idle time and module loading. */
  readonly busyMicros: number;
  /** Shares of `busyMicros`, from 0 to 1, the largest first. */
  readonly parts: readonly (readonly [area: string, share: number])[];
}

const IDLE = '(idle)';
const COLLECTOR = '(garbage collector)';
const LOADING = 'node:internal/modules/';
const PROGRAM = /\/dist\/(?:apps\/([^/]+)\/main|(bench)\/bench)\.js$/;
/** Each part of libs/auction is an area of its own. */
const OURS = /\/dist\/(libs\/auction\/[^/]+|(?:apps|libs)\/[^/]+|bench)\//;
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** Calls of libuv without a source file. Their time includes the kernel's work for the receiver. */
const WRITES = new Set(['writev', 'writeBuffer', 'writeUtf8String', 'writeLatin1String']);

/**
 * Splits the time by area. A sample counts for the nearest frame, from the leaf up, that is in our code or a
 * package. Socket writes and garbage collection are separate areas.
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

/** By node. Nodes without an area are left out. */
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
    areas.set(node.id, separateArea(functionName, url) ?? area);
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

function separateArea(functionName: string, url: string): string | undefined {
  if (functionName === COLLECTOR) return 'collecting garbage';
  return url === '' && WRITES.has(functionName) ? 'writing to sockets' : undefined;
}
