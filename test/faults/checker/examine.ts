import type { OracleArchive } from '../../simulator/oracle/archive.js';
import { Acknowledged } from '../../simulator/oracle/acknowledged.js';
import { LAST_PROOF_MILLIS } from '../../simulator/oracle/freshness.js';
import { Promises } from '../../simulator/oracle/promises.js';
import { Readings } from '../../simulator/oracle/readings.js';
import type { CampaignAccounts } from '../cast.js';
import { checkAnswers } from './answers.js';
import type { Findings } from './findings.js';
import { checkLeaks } from './leaks.js';
import { checkStream } from './streams.js';

const MULTIPLE_CHOICES = 300;
const REQUEST_TIMEOUT = 408;

/** Compares what users were answered with the final journals. */
export function examine(
  { transcript, listeners, makers }: Pick<CampaignAccounts, 'transcript' | 'listeners' | 'makers'>,
  archive: OracleArchive,
  findings: Findings,
): void {
  const acknowledged = new Acknowledged();
  const answered = [...transcript.answered].sort((one, other) => one.endedAt - other.endedAt);
  checkAnswers(answered, transcript.document, findings);
  let now = 0;
  const promises = new Promises(archive, (placed) => acknowledged.note(placed, now));
  for (const { command } of answered) promises.said(command);
  for (const { command, status, body, endedAt } of answered) {
    now = endedAt;
    // The gateway received only a part of the command, so it never began.
    if (status === REQUEST_TIMEOUT) continue;
    const what = command.operation === 'WITHDRAW_ALL' ? 'answers to withdraw-alls' : 'answers to commands';
    findings.look(what, () => promises.answered(command, status, body));
    if (status < MULTIPLE_CHOICES) findings.count(`acknowledged ${command.operation}`);
  }
  findings.look('all promises at once', () => promises.checkAll());
  // It is not known when each owner was replaced, so only what was known for this long must be known to all.
  const floor = (shard: number, askedAt: number): number =>
    acknowledged.upTo(shard, askedAt - LAST_PROOF_MILLIS);
  const readings = new Readings(archive, { floor });
  for (const { kind, reading } of transcript.readings) findings.look('reads', () => readings[kind](reading));
  for (const { told, memory, caller, streams } of listeners) {
    for (let resumed = 1; resumed < streams; resumed += 1) findings.count('streams resumed');
    for (const fault of memory.faults) findings.add(`streams are dense: ${caller.name} ${fault}`);
    checkStream(told, archive, caller.account, findings);
  }
  checkLeaks(
    transcript,
    archive,
    makers.map(({ account }) => account),
    findings,
  );
  findings.takeSorts(transcript.faults);
}
