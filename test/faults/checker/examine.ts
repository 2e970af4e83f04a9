import type { Archive } from '../../simulator/oracle/archive.js';
import { Acknowledged } from '../../simulator/oracle/acknowledged.js';
import { LAST_PROOF_MILLIS } from '../../simulator/oracle/freshness.js';
import type { Policies } from '../../simulator/oracle/policy-book.js';
import { Promises } from '../../simulator/oracle/promises.js';
import type { RefusalGrounds } from '../../simulator/oracle/refusals.js';
import { Readings } from '../../simulator/oracle/readings.js';
import type { Cast } from '../cast.js';
import { checkAnswers } from './answers.js';
import type { Findings } from './findings.js';
import { checkLeaks } from './leaks.js';
import { checkStream } from './streams.js';

const MULTIPLE_CHOICES = 300;
const REQUEST_TIMEOUT = 408;
const FOR_EVER = '9999-01-01T00:00:00.000Z';

/** What people were told meanwhile, held against what the journals say in the end. */
export function examine(
  { transcript, listeners, makers, isRich }: Pick<Cast, 'transcript' | 'listeners' | 'makers' | 'isRich'>,
  archive: Archive,
  findings: Findings,
): void {
  const acknowledged = new Acknowledged();
  const answered = [...transcript.answered].sort((one, other) => one.endedAt - other.endedAt);
  checkAnswers(answered, transcript.document, findings);
  let now = 0;
  const promises = new Promises(archive, openPolicy(makers, archive), groundsWhere(isRich), (placed) =>
    acknowledged.note(placed, now),
  );
  for (const { command } of answered) promises.said(command);
  for (const { command, status, body, endedAt } of answered) {
    now = endedAt;
    // A command of which a gateway has heard only a part: it was never begun.
    if (status === REQUEST_TIMEOUT) continue;
    const what = command.operation === 'WITHDRAW_ALL' ? 'answers to withdraw-alls' : 'answers to commands';
    findings.look(what, () => promises.answered(command, status, body));
    if (status < MULTIPLE_CHOICES) findings.count(`acknowledged ${command.operation}`);
  }
  findings.look('all promises at once', () => promises.checkAll());
  // Nobody knows here when which owner was replaced: what was known for that long is known to all.
  const floor = (shard: number, askedAt: number): number =>
    acknowledged.upTo(shard, askedAt - LAST_PROOF_MILLIS);
  const readings = new Readings(archive, { floor });
  for (const { kind, reading } of transcript.readings) findings.look('reads', () => readings[kind](reading));
  for (const { told, memory, caller, streams } of listeners) {
    for (let resumed = 1; resumed < streams; resumed += 1) findings.count('streams gone on with');
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

/** Nobody knows here what anybody's clock said when it refused something. */
function groundsWhere(isRich: Cast['isRich']): RefusalGrounds {
  return { now: () => '', aheadMillis: 0, mayBeMisled: true, isRich };
}

/** Here nobody is kept out of an audience, nobody keeps groups, every market trades, and any maker may be frozen at any time. */
function openPolicy(makers: Cast['makers'], archive: Archive): Policies {
  const routes = [...archive.files.values()].flatMap(({ terms }) => terms.routes);
  const venues = [...new Set(routes.map(({ venue }) => venue))];
  const guest = { is_maker: true, suspended: false, venues, control_group: null };
  const guests = new Map(makers.map(({ account }) => [account, guest]));
  const markets = new Map(
    routes.map(({ venue, contract_id: contract, outcome }) => [
      [venue, contract, outcome].join('/'),
      'TRADING',
    ]),
  );
  const frozen = new Map(makers.map(({ account }) => [account, FOR_EVER]));
  const page = { guests, markets, frozen, groups: new Map(), everIn: new Map() };
  return { said: () => undefined, saidAt: () => 0, pagesFor: () => [page] };
}
