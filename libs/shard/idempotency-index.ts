/** Identifies a command, however often its caller sends it. */
export interface IdempotencyKey {
  readonly operation: string;
  readonly account_id: string;
  readonly key: string;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The journal positions of the first replies to an entity's commands. A shard keeps millions of them, so a command is indexed by
 * a hash of its key. Two commands may share a hash: the positions found are candidates, and the caller compares the records
 * there.
 */
export class IdempotencyIndex {
  private readonly positions = new Map<number, number | readonly number[]>();

  constructor(restored: Iterable<readonly [number, number]> = []) {
    for (const [hash, position] of restored) this.add(hash, position);
  }

  note(command: IdempotencyKey, position: number): void {
    this.add(hashOf(command), position);
  }

  /** The positions at which the command may have been answered. */
  find(command: IdempotencyKey): readonly number[] {
    return listed(this.positions.get(hashOf(command)));
  }

  /** The pairs of hash and position up to a journal position, for a snapshot. */
  upTo(position: number): [number, number][] {
    return [...this.positions].flatMap(([hash, positions]) =>
      listed(positions).flatMap((at): [number, number][] => (at <= position ? [[hash, at]] : [])),
    );
  }

  private add(hash: number, position: number): void {
    const others = this.positions.get(hash);
    this.positions.set(hash, others === undefined ? position : [...listed(others), position]);
  }
}

export function isSameCommand(one: IdempotencyKey, other: IdempotencyKey): boolean {
  return one.operation === other.operation && one.account_id === other.account_id && one.key === other.key;
}

function listed(positions: number | readonly number[] | undefined): readonly number[] {
  if (positions === undefined) return [];
  return typeof positions === 'number' ? [positions] : positions;
}

/** FNV-1a over the parts, within the range of small integers. Snapshots contain it: changing it changes their format. */
function hashOf({ operation, account_id: account, key }: IdempotencyKey): number {
  let hash = FNV_OFFSET;
  for (const part of [operation, account, key]) {
    for (let index = 0; index < part.length; index += 1) {
      hash = Math.imul(hash ^ part.charCodeAt(index), FNV_PRIME);
    }
    hash = Math.imul(hash ^ 0xff, FNV_PRIME);
  }
  return hash | 0;
}
