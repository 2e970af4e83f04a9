import type { CommandMark } from '#libs/auction/rules/events.js';

export type CommandName = Pick<CommandMark, 'operation' | 'account_id' | 'key'>;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Where in the journal first answers to an auction's commands stand. A shard keeps these by the million, so a command goes by a
 * number made from its name; another may have the same one, which is why what is found are places to look at, and no more.
 */
export class Marks {
  private readonly positions = new Map<number, number | readonly number[]>();

  constructor(kept: Iterable<readonly [number, number]> = []) {
    for (const [number, position] of kept) this.add(number, position);
  }

  note(command: CommandName, position: number): void {
    this.add(numberOf(command), position);
  }

  /** Positions among which the answer is, if there is one. */
  find(command: CommandName): readonly number[] {
    return listed(this.positions.get(numberOf(command)));
  }

  /** Those that stood when the journal had come so far. */
  upTo(position: number): [number, number][] {
    return [...this.positions].flatMap(([number, positions]) =>
      listed(positions).flatMap((at): [number, number][] => (at <= position ? [[number, at]] : [])),
    );
  }

  private add(number: number, position: number): void {
    const others = this.positions.get(number);
    this.positions.set(number, others === undefined ? position : [...listed(others), position]);
  }
}

export function isSameCommand(one: CommandName, other: CommandName): boolean {
  return one.operation === other.operation && one.account_id === other.account_id && one.key === other.key;
}

function listed(positions: number | readonly number[] | undefined): readonly number[] {
  if (positions === undefined) return [];
  return typeof positions === 'number' ? [positions] : positions;
}

/** FNV-1a over the parts, kept to what a small integer of the engine holds. Snapshots rely on it: changing it is a new format. */
function numberOf({ operation, account_id: account, key }: CommandName): number {
  let number = FNV_OFFSET;
  for (const part of [operation, account, key]) {
    for (let place = 0; place < part.length; place += 1) {
      number = Math.imul(number ^ part.charCodeAt(place), FNV_PRIME);
    }
    number = Math.imul(number ^ 0xff, FNV_PRIME);
  }
  return number | 0;
}
