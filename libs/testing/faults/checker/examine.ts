import type { Archive } from '../../simulator/oracle/archive.js';
import { Promises } from '../../simulator/oracle/promises.js';
import { Readings } from '../../simulator/oracle/readings.js';
import type { Cast } from '../cast.js';
import type { Caller } from '../load/caller.js';
import type { Reading } from '../load/transcript.js';
import type { Findings } from './findings.js';
import { checkLeaks } from './leaks.js';
import { checkStream } from './streams.js';

const READERS_AT_ONCE = 8;

/** What people were told meanwhile, held against what the journals say in the end. */
export function examine(
  { transcript, listeners, makers }: Pick<Cast, 'transcript' | 'listeners' | 'makers'>,
  archive: Archive,
  findings: Findings,
): void {
  // Here nobody is kept out of an audience.
  const promises = new Promises(archive, () => false);
  const answered = [...transcript.answered].sort((one, other) => one.endedAt - other.endedAt);
  for (const { command } of answered) promises.said(command);
  for (const { command, status, body } of answered) {
    findings.look('answers to commands', () => promises.answered(command, status, body));
  }
  findings.look('all promises at once', () => promises.checkAll());
  const readings = new Readings(archive);
  for (const reading of transcript.readings) findings.look('reads', () => checkReading(readings, reading));
  for (const { told, memory, caller } of listeners) {
    for (const fault of memory.faults) findings.add(`streams are dense: ${caller.name} ${fault}`);
    checkStream(told, archive, caller.account, findings);
  }
  checkLeaks(
    transcript,
    archive,
    makers.map(({ account }) => account),
    findings,
  );
  for (const fault of transcript.faults) findings.add(`as documented: ${fault}`);
}

function checkReading(readings: Readings, { kind, account, auctionId, status, body }: Reading): void {
  if (kind === 'timeline') readings.timeline(account, auctionId, status, body);
  else readings[kind](account, status, body);
}

/** Everybody reads everything once more, at rest. */
export async function readAll(
  callers: readonly Caller[],
  archive: Archive,
  findings: Findings,
): Promise<void> {
  const readings = new Readings(archive);
  const asked = [...archive.files.values()].flatMap(({ id, stage, stories }) =>
    stage === 'COMPLETED' ? [...stories.keys()].map((account) => ({ id, account })) : [],
  );
  const worker = async (): Promise<void> => {
    for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
      const { id, account } = next;
      const caller = callers.find((each) => each.account === account);
      if (caller === undefined) continue;
      const view = await caller.insist(`/v1/auctions/${id}`);
      const timeline = await caller.insist(`/v1/auctions/${id}/events?limit=1000`);
      findings.look('auctions read at rest', () => readings.atRest(account, id, view, timeline));
    }
  };
  await Promise.all(Array.from({ length: READERS_AT_ONCE }, worker));
}
