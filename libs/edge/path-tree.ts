import type { BoundEndpoint } from './endpoint.js';

export interface PathMatch {
  /** By method. Never empty. */
  readonly endpoints: ReadonlyMap<string, BoundEndpoint>;
  /** The segments for the template's names, undecoded unless the dialect decodes paths. */
  readonly captured: readonly string[];
}

class Node {
  readonly literals = new Map<string, Node>();
  readonly endpoints = new Map<string, BoundEndpoint>();
  wildcard: Node | undefined;

  child(segment: string): Node {
    if (segment.startsWith(':')) return (this.wildcard ??= new Node());
    const existing = this.literals.get(segment);
    if (existing !== undefined) return existing;
    const added = new Node();
    this.literals.set(segment, added);
    return added;
  }
}

/**
 * Finds the template of a path with one map look-up per segment. A literal precedes a name, without backtracking. Paths are
 * decoded only if the dialect says so. Existing routers (find-my-way, Express's own) decode, fold case or backtrack.
 */
export class PathTree {
  private readonly root = new Node();

  /** With `decodes`, segments are decoded before they are compared. A broken encoding matches nothing. */
  constructor(private readonly decodes = false) {}

  add(endpoint: BoundEndpoint): void {
    const { method, path } = endpoint.spec;
    if (!path.startsWith('/')) throw new Error(`a path begins with a slash: ${path}`);
    let node = this.root;
    for (const segment of path.slice(1).split('/')) node = node.child(segment);
    if (node.endpoints.has(method)) throw new Error(`two endpoints for ${method} ${path}`);
    node.endpoints.set(method, endpoint);
  }

  find(path: string): PathMatch | undefined {
    if (!path.startsWith('/')) return undefined;
    const captured: string[] = [];
    let node = this.root;
    for (const raw of path.slice(1).split('/')) {
      const segment = this.decodes ? decoded(raw) : raw;
      if (segment === undefined) return undefined;
      const literal = node.literals.get(segment);
      const next = literal ?? (segment === '' ? undefined : node.wildcard);
      if (next === undefined) return undefined;
      if (literal === undefined) captured.push(segment);
      node = next;
    }
    return node.endpoints.size > 0 ? { endpoints: node.endpoints, captured } : undefined;
  }
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
