import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { StartFault } from '../process/start-fault.js';

const OLDEST_JAVA = 17;
const VERSION = /version "(?:1\.)?(\d+)/;

/** Where the jars of a broker come from, and where they are cached. */
export interface JarPlaces {
  /** The pom file that lists the jars. */
  readonly pom: string;
  readonly cacheFolder: string;
}

/** What this machine lacks to run a broker. Undefined if nothing is missing. */
export function missingForKafka(places: JarPlaces): string | undefined {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = java.error === undefined ? Number(VERSION.exec(java.stderr)?.[1] ?? 0) : 0;
  if (version === 0) return `Java ${OLDEST_JAVA} or newer is not installed`;
  if (version < OLDEST_JAVA) return `Java ${version} is too old: ${OLDEST_JAVA} or newer is needed`;
  if (existsSync(folderOf(places))) return undefined;
  const maven = spawnSync('mvn', ['--version']);
  return maven.error === undefined
    ? undefined
    : 'Maven is not installed, which is needed to fetch the jars of Kafka';
}

/** Returns the folder with the jars. Fetches them once for each content of the pom file. */
export async function kafkaJars(places: JarPlaces): Promise<string> {
  const jars = folderOf(places);
  if (existsSync(jars)) return jars;
  const partial = `${jars}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    await copyDependencies(places.pom, partial);
    await rename(partial, jars).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(jars)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return jars;
}

function folderOf({ pom, cacheFolder }: JarPlaces): string {
  const digest = createHash('sha256').update(readFileSync(pom)).digest('hex');
  return path.join(cacheFolder, digest.slice(0, 16));
}

async function copyDependencies(pom: string, folder: string): Promise<void> {
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  const maven = spawn('mvn', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [maven.stdout, maven.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    maven.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new StartFault(`Maven could not fetch Kafka's jars: ${output.trim()}`);
}
