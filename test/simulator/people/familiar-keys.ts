import type { Random } from '../kernel/random.js';
import { commandName } from '../oracle/archive.js';
import type { Promised } from '../oracle/promises.js';

const FAMILIAR = 0.12;
const EVERYBODYS = 0.3;
const WORDS = 5;
const LATEST = 12;

/**
 * Keys that users use again. A key names a command together with account, operation and auction; elsewhere it
 * names a new command. An account's choice depends on no other account, so that twins choose the same.
 */
export class FamiliarKeys {
  /** What each account sent under its own keys. */
  private readonly latest = new Map<string, Promised[]>();
  private readonly used = new Set<string>();

  /** Usually the key that the command came with, otherwise an earlier one of the same or of any account. */
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

/** A word from the same small set for all accounts. */
function wordOf(random: Random): string {
  return `familiar-${random.below(WORDS)}`;
}

function nameOf({ operation, account, auctionId }: Promised, key: string): string {
  return commandName(operation, account, auctionId, key);
}
