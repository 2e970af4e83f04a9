import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Random } from '../simulator/kernel/random.js';
import type { Call } from './call.js';
import { castFor, LOAD_ACCOUNTS, type Cast } from './cast.js';
import { checkBooks } from './checker/books.js';
import { checkDeadlines, type Disturbance } from './checker/deadlines.js';
import { examine, readAll } from './checker/examine.js';
import { Findings } from './checker/findings.js';
import { messagesInKafka, messagesInPostgres, readJournals, type Journals } from './checker/journals.js';
import { hasHeardAll } from './checker/streams.js';
import { Installation } from './installation/installation.js';
import { TOPIC_PREFIX } from './installation/plan.js';
import { kindsNamed } from './kinds/catalogue.js';
import { lookAtMachine } from './machine.js';
import { lateIn, measureRecovery, type Recovery } from './recovery.js';
import { Deck, playRound, untilWell, type Round } from './rounds.js';

const WARM_UP_MS = 3_000;
const BREATH_MS = 1_000;
const REST = { tries: 40, everyMs: 3_000 };
const HEARD = { tries: 300, everyMs: 100 };

export interface Outcome {
  readonly rounds: readonly Round[];
  /** Kinds of faults that this machine or this store does not have, and why. */
  readonly notRun: ReadonlyMap<string, string>;
  readonly findings: Findings;
  readonly requests: number;
  readonly commands: number;
  readonly codes: ReadonlyMap<string, number>;
  readonly streams: number;
  readonly ignored: ReadonlyMap<string, number>;
  readonly recovery: Recovery | undefined;
  readonly logFolder: string;
}

interface Stage {
  readonly call: Call;
  readonly site: Installation;
  readonly random: Random;
  readonly findings: Findings;
  readonly say: (line: string) => void;
}

/** One campaign from the start of everything to the last check; tells `say` how it goes. */
export async function runCampaign(
  call: Call,
  say: (line: string) => void,
  onStart: (site: Installation) => void,
): Promise<Outcome> {
  const random = new Random(`faults ${call.seed}`);
  const machine = lookAtMachine();
  const site = await Installation.start({
    machine,
    brokers: call.store === 'kafka' ? call.brokers : 0,
    loadAccounts: LOAD_ACCOUNTS,
  });
  onStart(site);
  const wanted = kindsNamed(call.only);
  const notRun = new Map(
    wanted.flatMap((kind) => {
      const why = kind.missing(site);
      return why === undefined ? [] : [[kind.name, why] as const];
    }),
  );
  for (const [name, why] of notRun) say(`NOT RUN ${name}: ${why}`);
  const cast = await castFor(site, random);
  cast.crowd.start();
  await sleep(WARM_UP_MS);
  const findings = new Findings();
  const stage = { call, site, random, findings, say };
  const deck = new Deck(
    wanted.filter(({ name }) => !notRun.has(name)),
    random.fork('deck'),
  );
  const rounds = await playRounds(stage, cast, deck);
  const { recovery, journals, fromThenOn } = await settle(stage, cast);
  say('everything is at rest, checking');
  checkDeadlines(journals.deadlines, [...rounds, fromThenOn], findings);
  await check(site, cast, journals, findings);
  for (const caller of [...cast.originators, ...cast.makers]) caller.close();
  return {
    rounds,
    notRun,
    findings,
    requests: cast.transcript.requests,
    commands: cast.transcript.answered.length,
    codes: cast.transcript.codes,
    streams: cast.listeners.reduce((sum, { streams }) => sum + streams, 0),
    ignored: ignoredIn(journals),
    recovery,
    logFolder: site.logFolder,
  };
}

async function playRounds(
  { call: { minutes }, site, random, findings, say }: Stage,
  cast: Cast,
  deck: Deck,
): Promise<Round[]> {
  const rounds: Round[] = [];
  const deadline = performance.now() + minutes * 60_000;
  while (performance.now() < deadline) {
    const kinds = deck.deal();
    if (kinds.length === 0) break;
    const round = await playRound(site, cast, kinds, random.fork(`round ${rounds.length}`));
    rounds.push(round);
    say(
      `${rounds.length}. ${round.kinds.join(' + ')}: well after ${seconds(round.lastedMs)}, ` +
        `unavailable for ${seconds(round.unavailableMs)}, without creates for ${seconds(round.createlessMs)}; ${cast.transcript.answered.length} commands`,
    );
    for (const missed of round.missed) say(`   missed ${missed}`);
    if (round.amiss !== undefined) {
      findings.add(`everything comes back: after ${round.kinds.join(' + ')} ${round.amiss}`);
      break;
    }
    await sleep(BREATH_MS);
  }
  return rounds;
}

interface Settled {
  readonly recovery: Recovery | undefined;
  readonly journals: Journals;
  /** What is not well any more, or is not to be. */
  readonly fromThenOn: Disturbance;
}

/** People stop, what is of unknown fate is settled, and all that was opened comes to its end and is heard of. */
async function settle(
  { call: { openAuctions }, site, random, findings, say }: Stage,
  cast: Cast,
): Promise<Settled> {
  const { crowd, originators, makers, listeners } = cast;
  const amiss = await untilWell(site, cast);
  if (amiss !== undefined) findings.add(`everything comes back: in the end ${amiss}`);
  await crowd.stop();
  await crowd.settleOpen();
  let fromThenOn: Disturbance = { kinds: [], began: amiss === undefined ? Infinity : 0, ended: Infinity };
  let recovery: Recovery | undefined;
  if (openAuctions > 0) {
    fromThenOn = { kinds: ['recovery'], began: Math.min(fromThenOn.began, Date.now()), ended: Infinity };
    say(`opening ${openAuctions} auctions at one owner, to be killed`);
    const maker = makers[0]?.account ?? '';
    recovery = await measureRecovery(site, originators, maker, openAuctions, random.fork('recovery'));
    for (const late of lateIn(recovery)) findings.add(late);
  }
  const journals = await readAtRest(site, findings);
  for (let tries = 0; tries < HEARD.tries; tries += 1) {
    const late = listeners.filter(({ told, caller }) => !hasHeardAll(told, journals.archive, caller.account));
    if (late.length === 0) break;
    await sleep(HEARD.everyMs);
  }
  for (const listener of listeners) await listener.stop();
  return { recovery, journals, fromThenOn };
}

/** The journals as soon as nothing is under way in them. */
async function readAtRest(site: Installation, findings: Findings): Promise<Journals> {
  const pool = new pg.Pool({ connectionString: site.databaseUrl, max: 1 });
  try {
    for (let tries = 1; ; tries += 1) {
      const read = new Findings();
      const { brokers } = site;
      const messages =
        brokers === undefined ? messagesInPostgres(pool) : messagesInKafka(brokers.addresses, TOPIC_PREFIX);
      const journals = await readJournals(messages, read);
      const busy = [...journals.archive.files.values()].filter(
        ({ stage, terms }) => stage !== 'COMPLETED' && !isLong(terms),
      );
      if (busy.length > 0 && tries < REST.tries && read.found === 0) {
        await sleep(REST.everyMs);
        continue;
      }
      findings.take(read);
      // Behind an event that must not be, nothing that is still open means anything.
      if (read.found > 0) return journals;
      for (const { id, stage } of busy) findings.add(`at rest everything is over: ${id} is ${stage}`);
      return journals;
    }
  } finally {
    await pool.end();
  }
}

function isLong({
  opened_at: opened,
  closes_at: closes,
}: {
  readonly opened_at: string;
  readonly closes_at: string;
}): boolean {
  return Date.parse(closes) - Date.parse(opened) > 600_000;
}

async function check(
  site: Installation,
  cast: Cast,
  { archive }: Journals,
  findings: Findings,
): Promise<void> {
  const pool = new pg.Pool({ connectionString: site.databaseUrl, max: 1 });
  try {
    await checkBooks(pool, archive, findings);
  } finally {
    await pool.end();
  }
  await readAll([...cast.originators, ...cast.makers], archive, findings);
  examine(cast, archive, findings);
}

function ignoredIn({ copies }: Journals): Map<string, number> {
  const all = new Map<string, number>();
  for (const { ignored } of copies)
    for (const [why, count] of ignored) all.set(why, (all.get(why) ?? 0) + count);
  return all;
}

export function seconds(millis: number): string {
  return `${(millis / 1_000).toFixed(1)} s`;
}
