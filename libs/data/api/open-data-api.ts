import type { Provider } from '../rules/providers.js';
import type { Pool } from 'pg';
import type { Answered } from '#libs/edge/dispatcher.js';
import { endpointsOf } from '#libs/edge/endpoint-decorator.js';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { SERVER_LIMITS, type ServerLimits } from '#libs/edge/server/server-limits.js';
import { ConfigFault } from '#libs/platform/process/start-fault.js';
import { quietly } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import { CallCountTable } from '../store/call-count-table.js';
import { FreshnessTable } from '../store/freshness-table.js';
import { StartTable } from '../store/start-table.js';
import { DataAuthenticator, type DataIdentityPorts } from './authenticate.js';
import { clientAddresses } from './client-address.js';
import { SealedCursors } from './cursors.js';
import { dataControllers } from './data-controllers.js';
import { DataReadiness } from './data-readiness.js';
import type { DataSettings } from './data-settings.js';
import { dataDialect } from './dialect.js';
import { FreshnessBook } from './freshness-book.js';
import { CallLimits } from './limits/call-limits.js';
import { LimitRules } from './limits/limit-rules.js';
import { Upstreams } from './upstream/upstream.js';
import { SharedCounts } from './limits/shared-counts.js';

export interface DataApiPorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly identity: Omit<DataIdentityPorts, 'adminSecrets'>;
  readonly settings: Omit<DataSettings, 'ports'>;
  readonly limitsFactor: number;
  /** The base URL of the companion listener, once it listens. */
  readonly companionUrl: () => string;
  readonly newId: () => string;
  readonly stopping: AbortSignal;
  readonly isOutage: (error: unknown) => boolean;
  readonly onFault: (error: unknown, requestId: string, operationId: string | undefined) => void;
  readonly onAlarm: (provider: Provider, detail: string) => void;
  readonly onAnswer?: (answered: Answered) => void;
  readonly tracing?: Tracing;
}

/** The listeners of market data, with their routes mounted but not yet listening. */
export interface DataApi {
  readonly data: EdgeListener;
  readonly companion: EdgeListener;
  /** Has no routes yet. */
  readonly stream: EdgeListener;
  readonly readiness: DataReadiness;
  stop(): Promise<void>;
}

/** A cursor alone may have 16,384 characters. */
const LIMITS: ServerLimits = { ...SERVER_LIMITS, headerBytes: 65_536 };

export function openDataApi(ports: DataApiPorts): DataApi {
  const { pool, clock, settings, onFault } = ports;
  const readiness = new DataReadiness(new StartTable(pool), clock, ports.stopping);
  const freshness = new FreshnessBook(new FreshnessTable(pool), clock);
  const rules = new LimitRules(settings.limitChanges, ports.limitsFactor);
  const limits = new CallLimits(rules, clock, () => counts.wanted());
  const counts = new SharedCounts({
    ...{ limits, table: new CallCountTable(pool), clock, replica: ports.newId() },
    onFault: quietly((what, error) => onFault(error, '', what), clock).bind(undefined, 'call counts'),
  });
  const dialect = dataDialect({
    callers: new DataAuthenticator({ ...ports.identity, adminSecrets: settings.adminSecrets }),
    addressOf: clientAddresses(settings.trustedProxies),
    ...{ counter: limits, freshness },
  });
  const listener = (): EdgeListener =>
    new EdgeListener(
      {
        ...{ dialect, clock, onFault, isOutage: ports.isOutage, newRequestId: ports.newId },
        // The dialect has its own check of credentials.
        authenticator: { authenticate: () => 'unauthorized' },
        ...(ports.onAnswer === undefined ? {} : { onAnswer: ports.onAnswer }),
        ...(ports.tracing === undefined ? {} : { tracing: ports.tracing }),
      },
      LIMITS,
    );
  const { upstreamUrls, upstreamTimeoutMillis } = settings;
  const upstreams = new Upstreams(upstreamUrls, upstreamTimeoutMillis, clock);
  const opened = { data: listener(), companion: listener(), stream: listener() };
  const controllers = dataControllers({
    ...{ pool, clock, readiness, cursors: new SealedCursors(settings.keySecret), settings, upstreams },
    ...{
      companionUrl: ports.companionUrl,
      onAlarm: ports.onAlarm,
      onFault: (what, error) => onFault(error, '', what),
    },
  });
  refuseUnknownLimits(rules, [...controllers.data, ...controllers.companion]);
  opened.data.mount(controllers.data);
  opened.companion.mount(controllers.companion);
  opened.stream.mount([]);
  freshness.start();
  counts.start();
  return {
    ...opened,
    readiness,
    async stop() {
      freshness.stop();
      upstreams.close();
      await counts.stop();
    },
  };
}

/** A limit for an unknown name is a mistake in the settings. It must be found at the start, not when the limit is needed. */
function refuseUnknownLimits(rules: LimitRules, controllers: readonly object[]): void {
  const unknown = rules.unknownNames(endpointsOf(controllers).map(({ spec }) => spec));
  const [fault] = unknown.map((name) => `DATA_LIMITS names ${name}, which is no group and no path`);
  if (fault !== undefined) throw new ConfigFault([fault]);
}
