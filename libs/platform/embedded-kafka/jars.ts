import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { StartFault } from '../start-fault.js';

const OLDEST_JAVA = 17;
const VERSION = /version "(?:1\.)?(\d+)/;

/** What is missing on this machine for a broker of its own; undefined when nothing is. */
export function missingForKafka(): string | undefined {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = Number(VERSION.exec(java.stderr)?.[1] ?? 0);
  if (java.error !== undefined || version === 0) return `Java ${OLDEST_JAVA} or newer is not installed`;
  if (version < OLDEST_JAVA) return `Java ${version} is too old: ${OLDEST_JAVA} or newer is needed`;
  return spawnSync('mvn', ['--version']).error === undefined ? undefined : 'Maven is not installed';
}

/** The folder with the jars that the pom names; fetched once for each content of the pom. */
export async function kafkaJars(pom: string, cacheFolder: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex');
  const jars = path.join(cacheFolder, digest.slice(0, 16));
  if (await isThere(jars)) return jars;
  const partial = `${jars}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    await copyDependencies(pom, partial);
    await rename(partial, jars).catch(async (error: unknown) => {
      // Somebody else was quicker.
      if (!(await isThere(jars))) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return jars;
}

async function copyDependencies(pom: string, folder: string): Promise<void> {
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  const maven = spawn('mvn', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [maven.stdout, maven.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    maven.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new StartFault(`Maven could not fetch Kafka's jars: ${said.trim()}`);
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
