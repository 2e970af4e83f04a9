import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hireKeeper } from '../cluster/cluster.js';
import { isPortFree } from '../../platform/supervision/ports.js';

const READY = /ready: KAFKA_BROKERS=(\S+)/;
const READY_WITHIN_MS = 180_000;
const LOOK_EVERY_MS = 50;

/**
 * `npm run kafka` for many suites, started by the first that needs it. It ends with the process that runs the suites. They share
 * only that process, so a file named by its pid has the addresses.
 */
export async function sharedKafka(): Promise<string[]> {
  const note = path.join(tmpdir(), `sotto-kafka-${process.pid}`);
  const known = existsSync(note) ? readFileSync(note, 'utf8').split(',') : [];
  if (known[0] !== undefined && (await isTaken(known[0]))) return known;
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-kafka-'));
  const outputFile = path.join(folder, 'output.log');
  const log = openSync(outputFile, 'a');
  const program = path.resolve('dist/apps/cli/main.js');
  const kafka = spawn(process.execPath, [program, 'kafka', '--folder', path.join(folder, 'data')], {
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  kafka.unref();
  hireKeeper(kafka, undefined, [folder, note]);
  const addresses = await untilReady(kafka, outputFile);
  writeFileSync(note, addresses);
  return addresses.split(',');
}

async function untilReady(kafka: ChildProcess, outputFile: string): Promise<string> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const output = readFileSync(outputFile, 'utf8');
    const [, addresses] = READY.exec(output) ?? [];
    if (addresses !== undefined) return addresses;
    if (kafka.exitCode !== null || kafka.signalCode !== null || performance.now() > deadline) {
      throw new Error(`Kafka did not become ready: ${output}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function isTaken(address: string): Promise<boolean> {
  const [host = '', port] = address.split(':');
  return !(await isPortFree(Number(port), host));
}
