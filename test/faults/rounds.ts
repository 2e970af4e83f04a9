import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../simulator/kernel/random.js';
import { OWNERS, PROCESSES } from './installation/plan.js';
import type { Installation } from './installation/installation.js';
import type { InjectedFaultKind } from './kinds/fault-kind.js';
import type { CampaignAccounts } from './cast.js';
import { decides, type AnsweredCommand } from './load/transcript.js';
import { impassable } from './roads.js';

const WELL_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 100;
const ANSWER_WITHIN_MS = 1_500;
const TOGETHER = { alone: 0.55, two: 0.85 };

/** The result of one round of faults. */
export interface FaultRound {
  /** All kinds that were tried. */
  readonly kinds: readonly string[];
  /** The kinds that happened. */
  readonly done: readonly string[];
  /** The kinds that did not happen, for example because the process had just ended, and why. */
  readonly missed: ReadonlyMap<string, string>;
  /** The longest time in which a shard settled no command although users went on. */
  readonly unavailableMs: number;
  /** The same for creates alone, which may pause while other commands go on. */
  readonly createlessMs: number;
  /** From the first fault until everything was well again. */
  readonly lastedMs: number;
  /** Start and end, by the machine's clock. */
  readonly began: number;
  readonly ended: number;
  /** What was still wrong when the patience ended. */
  readonly amiss: string | undefined;
}

/** Deals faults alone and together, so that each kind comes once before any comes again. */
export class Deck {
  private rest: InjectedFaultKind[] = [];

  constructor(
    private readonly kinds: readonly InjectedFaultKind[],
    private readonly random: Random,
  ) {}

  deal(): InjectedFaultKind[] {
    const chance = this.random.next();
    const count = chance < TOGETHER.alone ? 1 : chance < TOGETHER.two ? 2 : 3;
    if (this.rest.length === 0) this.rest = this.random.shuffled(this.kinds);
    return this.rest.splice(0, count);
  }
}

export async function playRound(
  site: Installation,
  cast: CampaignAccounts,
  kinds: readonly InjectedFaultKind[],
  random: Random,
): Promise<FaultRound> {
  const [began, beganAt] = [performance.now(), Date.now()];
  const strikes = kinds.map(({ name, strike }) => [name, () => strike(site, random.fork(name))] as const);
  const { done, missed } = await strikeAtOnce(new Map(strikes));
  const amiss = await untilWell(site, cast);
  const ended = performance.now();
  const { answered } = cast.transcript;
  return {
    kinds: kinds.map(({ name }) => name),
    done,
    missed,
    unavailableMs: longestGap(answered, began, ended),
    createlessMs: longestGap(answered.filter(isCreate), began, ended),
    lastedMs: ended - began,
    began: beganAt,
    ended: Date.now(),
    amiss,
  };
}

/** Strikes with all of them together. Returns the kinds that happened, and the reasons of the others. */
export async function strikeAtOnce(
  strikes: ReadonlyMap<string, () => Promise<void>>,
): Promise<Pick<FaultRound, 'done' | 'missed'>> {
  const missed = new Map<string, string>();
  const attempts = [...strikes].map(async ([kind, strike]) => {
    try {
      await strike();
    } catch (error) {
      missed.set(kind, error instanceof Error ? error.message : String(error));
    }
  });
  await Promise.all(attempts);
  return { done: [...strikes.keys()].filter((kind) => !missed.has(kind)), missed };
}

/**
 * Resolves once every process is ready and every gateway reaches every owner, starts streams and carries
 * commands to every shard; otherwise, after a long time, with what is wrong.
 */
export async function untilWell(site: Installation, cast: CampaignAccounts): Promise<string | undefined> {
  const deadline = performance.now() + WELL_WITHIN_MS;
  for (;;) {
    const amiss =
      (await whoIsNotReady(site)) ?? (await whoIsCutOff(cast)) ?? (await impassable(cast.transcript));
    if (amiss === undefined || performance.now() > deadline) return amiss;
    await sleep(LOOK_EVERY_MS);
  }
}

async function whoIsNotReady(site: Installation): Promise<string | undefined> {
  const answers = await Promise.all(PROCESSES.map((name) => statusOf(`${site.internalUrl(name)}/readyz`)));
  const index = answers.findIndex((answer) => answer !== 'ready');
  return index < 0 ? undefined : `${PROCESSES[index] ?? ''} says ${answers[index] ?? ''}`;
}

/** A list needs all three owners, and streams may start at any gateway. */
async function whoIsCutOff({ originators: [caller] }: CampaignAccounts): Promise<string | undefined> {
  const answers = (await caller?.askEveryGateway('/v1/auctions?limit=1')) ?? [];
  const index = answers.findIndex((answer) => answer?.status !== 200);
  if (index >= 0) return `gateway-${index} lists nothing: ${answers[index]?.text ?? 'no answer'}`;
  const greetings = (await caller?.greetEveryGateway()) ?? [];
  const silent = greetings.indexOf(undefined);
  return silent < 0 ? undefined : `gateway-${silent} begins no stream`;
}

async function statusOf(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return answer.status === 200 ? 'ready' : `${answer.status} ${await answer.text()}`;
  } catch {
    return 'nothing';
  }
}

/** The longest time between two settled commands of the same shard, or before the first or after the last. */
export function longestGap(answered: readonly AnsweredCommand[], from: number, to: number): number {
  const latest = OWNERS.map(() => from);
  let longest = 0;
  const first = answered.findLastIndex(({ endedAt }) => endedAt < from) + 1;
  for (const answer of answered.slice(first)) {
    const { shard, endedAt } = answer;
    const before = latest[shard];
    if (before === undefined || endedAt > to || !decides(answer.status)) continue;
    longest = Math.max(longest, endedAt - before);
    latest[shard] = endedAt;
  }
  return Math.max(longest, ...latest.map((at) => to - at));
}

function isCreate({ command, status }: AnsweredCommand): boolean {
  return command.operation === 'CREATE' && status < 300;
}
