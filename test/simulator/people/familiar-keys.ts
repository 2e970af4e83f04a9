import type { Random } from '../kernel/random.js';
import { commandName } from '../oracle/archive.js';
import type { Promised } from '../oracle/promises.js';

const FAMILIAR = 0.12;
const EVERYBODYS = 0.3;
const WORDS = 5;
const LATEST = 12;

/**
 * Keys that people use again. A key names a command together with its account, its operation and its auction, so whoever uses one for
 * something else has said something new. What one takes depends on nobody else, so that twins take the same.
 */
export class FamiliarKeys {
  /** By account, what was said under keys of its own. */
  private readonly latest = new Map<string, Promised[]>();
  private readonly used = new Set<string>();

  /** Mostly the key that the command came with; else one that was used before, by its account or by anybody. */
  keyFor(command: Promised, random: Random): string {
    const own = this.latest.get(command.account) ?? [];
    if (random.chance(FAMILIAR)) {
      const key = random.chance(EVERYBODYS) || own.length === 0 ? wordOf(random) : random.pick(own).key;
      const name = nameOf(command, key);
      const isNew = !this.used.has(name) && own.every((other) => nameOf(other, other.key) !== name);
      if (isNew) {
        this.used.add(name);
        return key;
      }
    }
    this.latest.set(command.account, [...own, command].slice(-LATEST));
    return command.key;
  }
}

/** The same for everybody. */
function wordOf(random: Random): string {
  return `familiar-${random.below(WORDS)}`;
}

function nameOf({ operation, account, auctionId }: Promised, key: string): string {
  return commandName(operation, account, auctionId, key);
}
