import { Counter, Histogram, type Registry } from 'prom-client';
import type { Answered } from '#libs/edge/dispatcher.js';
import type { Logger } from '#libs/platform/process/log.js';

const NANOS_PER_SECOND = 1e9;
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Logs and counts the answers of all services of the process. */
export class AnswerLog {
  private readonly requests: Counter<'operation' | 'status'>;
  private readonly seconds: Histogram<'operation'>;

  constructor(
    registry: Registry,
    private readonly log: Logger,
  ) {
    this.requests = new Counter({
      name: 'sotto_http_requests_total',
      help: 'Requests answered, by operation and status',
      labelNames: ['operation', 'status'],
      registers: [registry],
    });
    this.seconds = new Histogram({
      name: 'sotto_http_request_seconds',
      help: 'Time from the request to its answer',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  /** `logged`: operations whose every answer is logged. */
  of(logged: ReadonlySet<string>): (answered: Answered) => void {
    return ({ requestId, operationId = 'none', status, nanos }) => {
      this.log[levelOf(status, logged.has(operationId))](
        { request_id: requestId, operation: operationId, status },
        `${operationId} answered with ${status}`,
      );
      this.requests.inc({ operation: operationId, status: String(status) });
      this.seconds.observe({ operation: operationId }, Number(nanos) / NANOS_PER_SECOND);
    };
  }
}

function levelOf(status: number, isLogged: boolean): 'error' | 'info' | 'debug' {
  if (status === 500) return 'error';
  return status > 500 || isLogged ? 'info' : 'debug';
}
