import { randomUUID } from 'node:crypto';
import { TEST_RUN_VARIABLE } from '../cluster/shared-cluster.js';
import { startTestServer, TEST_POSTGRES_VARIABLE, type TestServer } from './test-server.js';

let server: TestServer | undefined;

/** Starts one server a run. Jest calls this for every project that names it, and the suites inherit the variable. */
export default async function startForRun(): Promise<void> {
  process.env[TEST_RUN_VARIABLE] ??= randomUUID();
  if (process.env[TEST_POSTGRES_VARIABLE] !== undefined) return;
  server = await startTestServer();
  process.env[TEST_POSTGRES_VARIABLE] = server.url;
}

export async function stopAfterRun(): Promise<void> {
  if (server === undefined) return;
  const stopping = server;
  server = undefined;
  delete process.env.SOTTO_TEST_POSTGRES_URL;
  await stopping.stop();
}
