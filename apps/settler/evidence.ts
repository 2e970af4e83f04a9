import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { EVIDENCE_FEED_DEFAULTS, EvidenceFeed } from '#libs/ledger/evidence-feed.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { type Logger, quietly } from '#libs/platform/process/log.js';

/** One round may fail without effect. */
const RENEWALS_IN_TTL = 3;

export interface EvidenceParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly ttlMillis: number;
}

export function evidenceFeed({ pool, clock, log, registry, ttlMillis }: EvidenceParts): EvidenceFeed {
  const restated = new Counter({
    name: 'sotto_evidence_restated_total',
    help: 'Keys of the ledger whose evidence was missing or wrong, and was written again',
    registers: [registry],
  });
  const onFault = quietly((_, error) => {
    log.error({ err: error }, 'the evidence could not be renewed');
  }, clock);
  const feed = new EvidenceFeed(
    pool,
    clock,
    {
      fault: (error) => {
        onFault('evidence', error);
      },
      spoiled: (keys) => {
        restated.inc(keys.length);
        log.error({ keys }, 'evidence differed from the ledger and was written again');
      },
    },
    { ...EVIDENCE_FEED_DEFAULTS, ttlMillis, renewEveryMillis: Math.floor(ttlMillis / RENEWALS_IN_TTL) },
  );
  new Gauge({
    name: 'sotto_evidence_holds_seconds',
    help: 'Time for which the last full renewal of evidence is still valid',
    registers: [registry],
    collect() {
      this.set(feed.holdsSeconds);
    },
  });
  return feed;
}
