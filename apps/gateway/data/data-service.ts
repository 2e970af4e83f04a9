import { randomUUID } from 'node:crypto';
import { Counter } from 'prom-client';
import { dataSettingsOf } from '#libs/data/api/data-settings.js';
import { DATA_CATALOGUE } from '#libs/data/api/enrolment.js';
import { openDataApi } from '#libs/data/api/open-data-api.js';
import { PROVIDERS, type Provider } from '#libs/data/rules/providers.js';
import { isUnanswered, openPool } from '#libs/platform/database/postgres.js';
import { DATABASE_ANSWER_MS } from '../database-answer.js';
import type { OpenService, ServiceDefinition, ServiceParts } from '../service.js';
import { DataModule } from './data.module.js';

export const dataService: ServiceDefinition = {
  catalogue: DATA_CATALOGUE,
  /** Changes by operators. Reads are too many to log. */
  loggedOperations: new Set([
    ...['setFlag', 'removeFlag', 'pauseProvider', 'resumeProvider', 'backfillProvider'],
    'reloadProviderConfigs',
  ]),
  open,
};

async function open(shared: ServiceParts): Promise<OpenService> {
  const { config, log, scope, clock, tracing, onAnswer } = shared;
  const settings = dataSettingsOf(config);
  const identity = await shared.identity.reasoned(DATA_CATALOGUE.service, settings.keySecret);
  const pool = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-data`,
    max: config.DATABASE_POOL,
    answerTimeoutMs: DATABASE_ANSWER_MS,
    looksUp: true,
  });
  scope.onStop('pool of market data', () => pool.end());
  const api = openDataApi({
    ...{ pool, clock, identity, settings, tracing, onAnswer, newId: randomUUID },
    limitsFactor: config.LIMITS_FACTOR,
    companionUrl: () => urlOf(config.LISTEN_HOST, settings.ports.companion),
    stopping: scope.stopping,
    isOutage: isUnanswered,
    onAlarm: alarmsOf(shared),
    onFault: (error, requestId, operationId) => {
      log.error({ err: error, request_id: requestId, operation: operationId }, 'a request failed');
    },
  });
  scope.onStop('market data', () => api.stop());
  return {
    module: DataModule.with(),
    listeners: [
      { listener: api.data, port: settings.ports.data },
      { listener: api.companion, port: settings.ports.companion },
      { listener: api.stream, port: settings.ports.stream },
    ],
    mount: () => Promise.resolve(),
    readiness: () => api.readiness.check(),
  };
}

/** Has the name of the counter of ingest, so that one alert rule covers both. */
function alarmsOf({ registry, log }: ServiceParts): (provider: Provider, detail: string) => void {
  const alarms = new Counter({
    name: 'sotto_ingest_alarms_total',
    help: 'Alarms of market data, by kind',
    labelNames: ['provider', 'kind'],
    registers: [registry],
  });
  const kind = 'candle_apart';
  for (const provider of PROVIDERS) alarms.inc({ provider, kind }, 0);
  return (provider, detail) => {
    alarms.inc({ provider, kind });
    log.warn({ alarm: detail }, 'alarm of market data');
  };
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

function urlOf(host: string, port: number): string {
  if (ANY_ADDRESS.has(host)) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
