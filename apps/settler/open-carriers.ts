import { randomInt } from 'node:crypto';
import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import type { SettlementAttempt } from '#libs/auction/settlement/settlement.js';
import { openLink } from '#libs/link/link-client.js';
import { watchServiceTokens, type ServiceTokens } from '#libs/link/service-tokens.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import { AwardCarrier, type CarrierPorts } from './award-carrier.js';
import { BlockedAwards } from './blocked-awards.js';
import type { settlerConfig } from './config.js';

export interface CarrierParts {
  readonly config: Config<typeof settlerConfig>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: Clock;
  readonly pool: Pool;
  readonly tracing: Tracing;
}

const RANDOM_RANGE = 2 ** 32;
const OUTCOMES: readonly SettlementAttempt['outcome'][] = ['SETTLED', 'FAILED', 'BLOCKED'];

function random(): number {
  return randomInt(RANDOM_RANGE) / RANDOM_RANGE;
}

/** One carrier for each shard, with a link of its own to the owner. */
export function openCarriers(parts: CarrierParts): AwardCarrier[] {
  const { config, registry } = parts;
  const settlements = new Counter({
    name: 'sotto_settlements_total',
    help: 'Attempts to settle an award, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // Starts each series at 0. Prometheus cannot see the growth of a series that starts with its first count.
  for (const outcome of OUTCOMES) settlements.inc({ outcome }, 0);
  const meter = { settled: (outcome: string) => settlements.inc({ outcome }) };
  const tokens = watchServiceTokens(config, parts);
  const blocked = new BlockedAwards(parts.clock, parts.log);
  new Gauge({
    name: 'sotto_award_blocked_seconds',
    help: 'Time that the longest blocked award has waited; 0 if none is blocked',
    registers: [registry],
    collect() {
      this.set(blocked.oldestSeconds);
    },
  });
  const carriers = config.OWNER_URLS.map((url, shard) =>
    openCarrier({ url, shard }, parts, tokens, { meter, blocked }),
  );
  new Gauge({
    name: 'sotto_awards_in_hand',
    help: 'Awards that are being settled',
    registers: [registry],
    collect() {
      this.set(carriers.reduce((sum, carrier) => sum + carrier.carrying, 0));
    },
  });
  return carriers;
}

function openCarrier(
  { url, shard }: { readonly url: string; readonly shard: number },
  { config, log, scope, clock, pool, tracing }: CarrierParts,
  tokens: ServiceTokens,
  observers: Pick<CarrierPorts, 'meter' | 'blocked'>,
): AwardCarrier {
  const link = openLink(tokens, { url, peer: config.INSTANCE, clock, trace: { tracing, shard } });
  scope.onStop('link', () => {
    link.close();
  });
  return new AwardCarrier({
    link,
    desk: new PostgresSettlement(pool, clock, random, config.RISK_EVIDENCE_TTL_MS),
    clock,
    concurrency: config.SETTLEMENT_CONCURRENCY,
    ...observers,
    onFault: (what, error) => {
      log.warn({ err: error, part: what }, 'an award could not be settled and will be tried again');
    },
    tracing,
  });
}
