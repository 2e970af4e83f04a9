import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Random } from '../simulator/kernel/random.js';
import type { FaultsCall } from './call.js';
import { castFor, LOAD_ACCOUNTS, type CampaignAccounts } from './cast.js';
import { checkBooks } from './checker/books.js';
import { checkDeadlines, type Disturbance } from './checker/deadlines.js';
import { checkEvidence } from './checker/evidence.js';
import { examine } from './checker/examine.js';
import { Findings } from './checker/findings.js';
import { messagesInKafka, messagesInPostgres, readJournals, type Journals } from './checker/journals.js';
import { checkPromisedTwice } from './checker/promised-twice.js';
import { readAll } from './checker/reads-at-rest.js';
import { hasHeardAll } from './checker/streams.js';
import { seconds } from './in-words.js';
import { Installation } from './installation/installation.js';
import { TOPIC_PREFIX } from './installation/plan.js';
import { kindsNamed } from './kinds/catalogue.js';
import type { InjectedFaultKind } from './kinds/fault-kind.js';
import { lookAtMachine } from './machine.js';
import { lateIn, measureRecovery, type Recovery } from './recovery.js';
import { Deck, playRound, untilWell, type FaultRound } from './rounds.js';
import { alwaysMissed, type Tally } from './tally.js';

const WARM_UP_MS = 3_000;
const BREATH_MS = 1_000;
/** Three minutes: reading the topics once takes up to 45 seconds. */
const REST = { withinMs: 180_000, everyMs: 3_000 };
const SETTLED_WITHIN_MS = 120_000;
const TRIES_ALONE = 2;
const HEARD = { tries: 300, everyMs: 100 };

export interface CampaignOutcome {
  readonly tally: Tally;
  readonly findings: Findings;
  readonly requests: number;
  readonly commands: number;
  readonly codes: ReadonlyMap<string, number>;
  readonly streams: number;
  readonly ignored: ReadonlyMap<string, number>;
  readonly recovery: Recovery | undefined;
  /** Whether all checks ran; otherwise these are the findings so far. */
  readonly isWhole: boolean;
}

/**
 * One campaign, from starting the installation to the last check. Reports progress to `say`; its findings can
 * be read at any time.
 */
export class Campaign {
  /** Set as soon as any part of it exists. */
  site: Installation | undefined;
  private readonly findings = new Findings();
  private readonly rounds: FaultRound[] = [];
  private readonly notRun = new Map<string, string>();
  private readonly wanted: readonly InjectedFaultKind[];
  private readonly random: Random;
  private cast: CampaignAccounts | undefined;
  private recovery: Recovery | undefined;
  private ignored: ReadonlyMap<string, number> = new Map();
  private isWhole = false;

  constructor(
    private readonly call: FaultsCall,
    private readonly say: (line: string) => void,
  ) {
    this.random = new Random(`faults ${call.seed}`);
    this.wanted = kindsNamed(call.only);
  }

  /** Rejects if the campaign could not begin; later faults become findings. */
  async run(): Promise<void> {
    const { call, random, findings, say } = this;
    const site = await Installation.start(
      {
        machine: lookAtMachine(),
        brokers: call.store === 'kafka' ? call.brokers : 0,
        loadAccounts: LOAD_ACCOUNTS,
      },
      (begun) => (this.site = begun),
    );
    for (const { name, missing } of this.wanted) {
      const why = missing(site);
      if (why === undefined) continue;
      this.notRun.set(name, why);
      say(`NOT RUN ${name}: ${why}`);
    }
    const cast = await castFor(site, random);
    this.cast = cast;
    await findings.part('the campaign', () => this.play(site, cast));
    await cast.crowd.stop();
    for (const listener of cast.listeners) await listener.stop();
    for (const caller of [...cast.originators, ...cast.makers]) caller.close();
    this.isWhole = true;
  }

  get outcome(): CampaignOutcome {
    const { call, cast, rounds, notRun, findings, recovery, ignored, isWhole } = this;
    const soFar = new Findings();
    soFar.take(findings);
    if (!isWhole && cast !== undefined) soFar.takeSorts(cast.transcript.faults);
    return {
      tally: {
        wanted: this.wanted.map(({ name }) => name),
        isChosen: call.only.length > 0,
        notRun,
        rounds,
      },
      findings: soFar,
      requests: cast?.transcript.requests ?? 0,
      commands: cast?.transcript.answered.length ?? 0,
      codes: cast?.transcript.codes ?? new Map(),
      streams: cast?.listeners.reduce((sum, { streams }) => sum + streams, 0) ?? 0,
      ignored,
      recovery,
      isWhole,
    };
  }

  private async play(site: Installation, cast: CampaignAccounts): Promise<void> {
    const { findings, rounds, say } = this;
    cast.crowd.start();
    await sleep(WARM_UP_MS);
    await this.playRounds(site, cast);
    const fromThenOn = await this.settle(site, cast);
    const journals = await readAtRest(site, findings);
    await untilHeard(cast, journals);
    this.ignored = ignoredIn(journals);
    say('everything is at rest, checking');
    checkDeadlines(journals.deadlines, [...rounds, fromThenOn], findings);
    await check(site, cast, journals, findings);
  }

  private async playRounds(site: Installation, cast: CampaignAccounts): Promise<void> {
    const { call, random, findings } = this;
    const able = this.wanted.filter(({ name }) => !this.notRun.has(name));
    const deck = new Deck(able, random.fork('deck'));
    const deadline = performance.now() + call.minutes * 60_000;
    while (performance.now() < deadline && findings.found === 0) {
      const kinds = deck.deal();
      if (kinds.length === 0) break;
      await this.playRound(site, cast, kinds);
    }
    // If kinds were chosen and blocked each other, tries each of them alone.
    for (let tries = 0; tries < TRIES_ALONE && call.only.length > 0; tries += 1) {
      const missed = new Set(alwaysMissed(this.outcome.tally));
      for (const kind of able.filter(({ name }) => missed.has(name)))
        if (findings.found === 0) await this.playRound(site, cast, [kind]);
    }
  }

  private async playRound(
    site: Installation,
    cast: CampaignAccounts,
    kinds: readonly InjectedFaultKind[],
  ): Promise<void> {
    const { rounds, random, findings, say } = this;
    const round = await playRound(site, cast, kinds, random.fork(`round ${rounds.length}`));
    rounds.push(round);
    say(
      `${rounds.length}. ${round.kinds.join(' + ')}: well after ${seconds(round.lastedMs)}, ` +
        `unavailable for ${seconds(round.unavailableMs)}, without creates for ${seconds(round.createlessMs)}; ${cast.transcript.answered.length} commands`,
    );
    for (const [kind, why] of round.missed) say(`   missed ${kind} (${why})`);
    await findings.part('the evidence', () => inDatabase(site, (pool) => checkEvidence(pool, findings)));
    if (round.amiss !== undefined)
      findings.add(`everything comes back: after ${round.kinds.join(' + ')} ${round.amiss}`);
    else await sleep(BREATH_MS);
  }

  /**
   * Users stop, open commands are settled, and an owner is killed on purpose. Returns the disturbance that this
   * caused, and reports what does not recover.
   */
  private async settle(site: Installation, cast: CampaignAccounts): Promise<Disturbance> {
    const { call, random, findings, say } = this;
    const { crowd, originators, makers } = cast;
    const amiss = await untilWell(site, cast);
    if (amiss !== undefined) findings.add(`everything comes back: after all patience ${amiss}`);
    await crowd.stop();
    const unsettled = await crowd.settleOpen(SETTLED_WITHIN_MS);
    if (unsettled > 0) findings.add(`everything comes back: ${unsettled} commands could not be settled`);
    if (amiss !== undefined) return { kinds: [], began: 0, ended: Infinity };
    if (call.openAuctions === 0) return { kinds: [], began: Infinity, ended: Infinity };
    const fromThenOn = { kinds: ['recovery'], began: Date.now(), ended: Infinity };
    say(`opening ${call.openAuctions} auctions at one owner, to be killed`);
    const maker = makers[0]?.account ?? '';
    this.recovery = await measureRecovery(
      site,
      originators,
      maker,
      call.openAuctions,
      random.fork('recovery'),
    );
    for (const late of lateIn(this.recovery)) findings.add(late);
    return fromThenOn;
  }
}

async function untilHeard({ listeners }: CampaignAccounts, { archive }: Journals): Promise<void> {
  for (let tries = 0; tries < HEARD.tries; tries += 1) {
    const late = listeners.filter(({ told, caller }) => !hasHeardAll(told, archive, caller.account));
    if (late.length === 0) break;
    await sleep(HEARD.everyMs);
  }
  for (const listener of listeners) await listener.stop();
}

/** Reads the journals once they stop growing. */
function readAtRest(site: Installation, findings: Findings): Promise<Journals> {
  return inDatabase(site, async (pool) => {
    const deadline = performance.now() + REST.withinMs;
    for (;;) {
      const read = new Findings();
      const { brokers } = site;
      const messages =
        brokers === undefined ? messagesInPostgres(pool) : messagesInKafka(brokers.addresses, TOPIC_PREFIX);
      const journals = await readJournals(messages, read);
      const busy = [...journals.archive.files.values()].filter(
        ({ stage, terms }) => stage !== 'COMPLETED' && !isLong(terms),
      );
      if (busy.length > 0 && performance.now() < deadline && read.found === 0) {
        await sleep(REST.everyMs);
        continue;
      }
      findings.take(read);
      // After an impossible event, checks of what is still open mean nothing.
      if (read.found > 0) return journals;
      for (const { id, stage } of busy) findings.add(`at rest everything is over: ${id} is ${stage}`);
      return journals;
    }
  });
}

/** Looks directly into the database. */
async function inDatabase<T>(site: Installation, look: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: site.databaseUrl, max: 1 });
  try {
    return await look(pool);
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
  cast: CampaignAccounts,
  { archive }: Journals,
  findings: Findings,
): Promise<void> {
  await inDatabase(site, async (pool) => {
    await findings.part('the books', () => checkBooks(pool, archive, findings));
    await findings.part('the evidence', () => checkEvidence(pool, findings));
    await findings.part('promises', () =>
      checkPromisedTwice(pool, cast.transcript.overspendings, archive, findings),
    );
  });
  await findings.part('reads at rest', () =>
    readAll([...cast.originators, ...cast.makers], archive, findings),
  );
  examine(cast, archive, findings);
}

function ignoredIn({ copies }: Journals): Map<string, number> {
  const all = new Map<string, number>();
  for (const { ignored } of copies)
    for (const [why, count] of ignored) all.set(why, (all.get(why) ?? 0) + count);
  return all;
}
