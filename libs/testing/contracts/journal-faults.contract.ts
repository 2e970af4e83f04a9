import { expect, it } from '@jest/globals';
import type { JournalWriter } from '../../journal/journal.js';
import { JournalAmbiguous, JournalFailure } from '../../journal/journal-errors.js';
import { events, freshShard, range, type JournalSubject } from './journal-subject.js';

/** What a caller knows about the outcome of its append. */
type Known = 'written' | 'not written' | 'not known';

async function knownOf(append: Promise<unknown>): Promise<Known> {
  try {
    await append;
    return 'written';
  } catch (error) {
    expect(error).toBeInstanceOf(JournalFailure);
    return error instanceof JournalAmbiguous ? 'not known' : 'not written';
  }
}

/**
 * The journal must agree with what the callers were told: no acknowledged record is missing, and every batch is whole or absent.
 */
async function expectHonest(
  subject: JournalSubject,
  shard: number,
  calls: readonly { readonly payloads: readonly string[]; readonly known: Known }[],
): Promise<void> {
  const stored = await events(subject.reader, shard);
  const there = new Set(stored);
  expect(stored).toHaveLength(there.size);
  for (const { payloads, known } of calls) {
    const found = payloads.filter((payload) => there.has(payload)).length;
    const allowed = { written: [payloads.length], 'not written': [0], 'not known': [0, payloads.length] };
    expect(allowed[known]).toContain(found);
  }
}

async function takeOver(subject: JournalSubject, shard: number): Promise<void> {
  const successor = await subject.journalOf('successor').open(shard);
  await successor.append([`"successor of ${successor.head.epoch}"`]);
  await successor.close();
}

async function exercise(
  subject: JournalSubject,
  breakIt: (shard: number) => void,
): Promise<{ writer: JournalWriter; known: Known }> {
  const shard = freshShard();
  const writer = await subject.journalOf('ada').open(shard);
  await writer.append(['"first"']);
  breakIt(shard);
  const payloads = ['"a"', '"b"', '"c"'];
  const known = await knownOf(writer.append(payloads));
  subject.faults.heal();
  await takeOver(subject, shard);
  await expectHonest(subject, shard, [
    { payloads: ['"first"'], known: 'written' },
    { payloads, known },
  ]);
  await writer.close();
  return { writer, known };
}

export function describeFaults(subject: () => JournalSubject): void {
  it('that lose the reply do not make the writer deny a written append', async () => {
    const { known } = await exercise(subject(), (shard) => subject().faults.loseAnswer(shard));
    expect(known).not.toBe('not written');
  });

  it('that lose the append do not make the writer promise it', async () => {
    const { writer, known } = await exercise(subject(), (shard) => subject().faults.loseAppend(shard));
    // An adapter may resend an append that did not arrive. Then it is written, and its writer lived until it was fenced.
    if (known !== 'written') expect(writer.health().ok).toBe(false);
    await expect(writer.append(['"more"'])).rejects.toBeInstanceOf(JournalFailure);
  });

  it('that leave no store to ask make the writer report an unknown outcome', async () => {
    const { writer, known } = await exercise(subject(), (shard) => subject().faults.isolate(shard));
    expect(known).toBe('not known');
    expect(writer.health().ok).toBe(false);
  });

  it('at any moment of a busy writer leave every caller with a true outcome', async () => {
    for (const round of range(1, 12)) {
      const shard = freshShard();
      const writer = await subject().journalOf('ada').open(shard);
      const calls: { payloads: string[]; known: Known }[] = [];
      const caller = async (name: number): Promise<void> => {
        for (const turn of range(1, 40)) {
          const payloads = range(0, name % 3).map((part) => `"${name}-${turn}-${part}"`);
          const call = { payloads, known: await knownOf(writer.append(payloads)) };
          calls.push(call);
          if (call.known !== 'written') return;
          if (name === 1 && turn === round) subject().faults.cut(shard);
        }
      };
      await Promise.all(range(1, 6).map(caller));
      subject().faults.heal();
      await takeOver(subject(), shard);
      await expectHonest(subject(), shard, calls);
      await writer.close();
    }
  });
}
