import type { Pool } from 'pg';
import { Counter, type Registry } from 'prom-client';
import { instantFromNanos } from '#libs/base/instant.js';
import { SignerFailure } from '#libs/execution/protocol/signer-protocol.js';
import { FileKeyManagement } from '#libs/execution/signer/key-management.js';
import { SealedKeys } from '#libs/execution/signer/sealed-keys.js';
import { SignatureRecord } from '#libs/execution/signer/signature-record.js';
import { SignerServer } from '#libs/execution/signer/signer-server.js';
import { SigningService } from '#libs/execution/signer/signing-service.js';
import { watchServiceTokens } from '#libs/link/service-tokens.js';
import { onceDatabaseAnswers } from '#libs/platform/database/await-database.js';
import { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { measureSessions } from '#libs/platform/database/session-metrics.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import { runProcess, type ProcessScope } from '#libs/platform/process/lifecycle.js';
import { createLogger, type Logger } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import type { Config, Environment } from '#libs/platform/settings/config.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import { signerConfig, signerRules } from './config.js';

/** An order waits for this answer. After this time nothing is signed. */
const DATABASE_ANSWER_MS = 4_000;
/** How often expired signatures of reads are deleted. */
const PRUNE_EVERY_MS = 10_000;

export function run(env: Environment): void {
  const config = loadConfigOrExit('signer', signerConfig, env, signerRules);
  const processLog = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });
  measureSessions(registry);

  runProcess({ log: processLog, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
    const clock = new SystemClock();
    const { log } = await openTracing('signer', { config, log: processLog, registry, scope, clock });
    const pool = openPool(config.DATABASE_URL, {
      applicationName: config.INSTANCE,
      max: config.DATABASE_POOL,
      answerTimeoutMs: DATABASE_ANSWER_MS,
      stopping: scope.stopping,
    });
    scope.onStop('pool', () => pool.end());
    const database = new DatabasePulse(pool, clock);
    let isListening = false;
    const internal = await startInternalServer(
      {
        registry,
        metricsTokens: config.METRICS_TOKENS,
        healthz: () => ({ ok: true, status: 'healthy' }),
        readyz: async () => {
          if (scope.stopping.aborted) return { ok: false, status: 'draining' };
          if (!(await database.answers())) return { ok: false, status: 'database_unreachable' };
          return isListening ? { ok: true, status: 'ready' } : { ok: false, status: 'starting' };
        },
      },
      config.INTERNAL_PORT,
      config.INTERNAL_HOST,
    );
    scope.onStop('listener', () => internal.close());
    const isAccepted = await onceDatabaseAnswers(() => refuseUnfitDatabase(pool), {
      clock,
      stopping: scope.stopping,
      onFault: (error) => {
        log.error({ err: error }, 'the check whether this release fits the database failed');
      },
    });
    if (!isAccepted) return;
    const record = new SignatureRecord(pool);
    scope.onStop('old reads', startPruning(record, clock, log));
    const server = socketServer({ config, log, registry, scope, clock, pool, record });
    await server.listen();
    scope.onStop('socket', () => server.close());
    isListening = true;
  });
}

function startPruning(record: SignatureRecord, clock: Clock, log: Logger): Cancel {
  return repeat(clock, PRUNE_EVERY_MS, async () => {
    try {
      await record.forgetReads(instantFromNanos(clock.epochNanos()));
    } catch (error) {
      log.error({ err: error }, 'old signatures of reads could not be removed');
    }
  });
}

interface SocketParts {
  readonly config: Config<typeof signerConfig>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: SystemClock;
  readonly pool: Pool;
  readonly record: SignatureRecord;
}

/** Counts every request to the socket, by result. */
function socketServer({ config, log, registry, scope, clock, pool, record }: SocketParts): SignerServer {
  const service = new SigningService({
    keys: new SealedKeys(pool),
    management: new FileKeyManagement(config.SIGNER_KEY),
    record,
    clock,
    network: config.VENUE_E_NETWORK,
  });
  const answers = new Counter({
    name: 'sotto_signer_answers_total',
    help: 'Requests to the signer by what was asked and how it ended',
    labelNames: ['op', 'result'],
    registers: [registry],
  });
  const tokens = watchServiceTokens(config, { clock, log, scope });
  return new SignerServer({
    path: config.SIGNER_SOCKET,
    serviceTokens: () => tokens.accepted(),
    answer: async (request) => {
      try {
        const reply = await service.answer(request);
        answers.inc({ op: request.op, result: 'OK' });
        return reply;
      } catch (error) {
        const result = error instanceof SignerFailure ? error.code : 'SIGNER_UNAVAILABLE';
        answers.inc({ op: request.op, result });
        throw error;
      }
    },
    onFault: (error) => {
      log.error({ err: error }, 'a request to sign failed');
    },
    clock,
  });
}
