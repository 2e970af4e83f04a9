import { request } from 'node:http';
import { z } from 'zod';

const readiness = z.object({ status: z.string() });
const PROBE_MILLIS = 500;
const MAX_BYTES = 4_096;

/** Asks an owner's listener for its condition. It answers even before the owner serves and while it stops. */
export class OwnerProbe {
  /** `urls`: the internal listeners, by shard. */
  constructor(private readonly urls: readonly string[]) {}

  /** The condition that `/readyz` names. Rejects if there is no answer. */
  condition(shard: number): Promise<string> {
    const url = this.urls[shard];
    if (url === undefined) return Promise.reject(new Error(`no owner of shard ${shard} is configured`));
    return new Promise((resolve, reject) => {
      const probe = request(new URL('/readyz', url), { timeout: PROBE_MILLIS, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > MAX_BYTES) probe.destroy(new Error('the status is too long'));
        });
        response.on('error', reject);
        response.on('end', () => {
          resolve(conditionIn(text));
        });
      });
      probe.on('timeout', () => probe.destroy(new Error('no answer in time')));
      probe.on('error', reject);
      probe.end();
    });
  }
}

function conditionIn(text: string): string {
  return readiness.parse(JSON.parse(text)).status;
}
