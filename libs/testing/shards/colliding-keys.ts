import { hash } from 'node:crypto';
import { Marks, type CommandName } from '#libs/shard/marks.js';

/** Two keys under which commands of the account look alike to an auction's marks. There are some among any hundred thousand. */
export function collidingKeys(command: Omit<CommandName, 'key'>): [string, string] {
  const seen = new Map<number, string>();
  for (let attempt = 0; ; attempt += 1) {
    const key = hash('sha256', String(attempt), 'hex').slice(0, 32);
    const marks = new Marks();
    marks.note({ ...command, key }, 1);
    const [[number] = [0]] = marks.upTo(1);
    const other = seen.get(number);
    if (other !== undefined) return [other, key];
    seen.set(number, key);
  }
}
