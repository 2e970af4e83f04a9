import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { executorConfig } from '#apps/executor/config.js';
import { gatewayConfig } from '#apps/gateway/config.js';
import { ownerConfig } from '#apps/owner/config.js';
import { projectorConfig } from '#apps/projector/config.js';
import { databaseSettings } from '#libs/platform/database-settings.js';
import type { ConfigDefinition } from '#libs/platform/config.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

interface Service {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly image: string;
  readonly healthcheck?: object;
}

const SCHEMAS: Readonly<Record<string, ConfigDefinition>> = {
  owner: ownerConfig,
  gateway: gatewayConfig,
  projector: projectorConfig,
  executor: executorConfig,
  migrate: databaseSettings,
  accounts: databaseSettings,
};
/** Run once and are over. */
const ONE_OFF = new Set(['migrate', 'accounts']);

const OPERATIONS = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');
const file = readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8');
const { services } = parse(file, { merge: true }) as { readonly services: Readonly<Record<string, Service>> };
const ours = Object.entries(services).filter(([name]) => name !== 'postgres');

function kindOf(name: string): string {
  return name.replace(/-\d$/, '');
}

describe('docker-compose.yml', () => {
  it('starts every kind of process, and an owner for each shard', () => {
    expect(ours.map(([name]) => name).sort()).toEqual(
      ['accounts', 'executor', 'gateway', 'migrate', 'owner-0', 'owner-1', 'owner-2', 'projector'].sort(),
    );
    const shards = [0, 1, 2].map((shard) => services[`owner-${shard}`]?.environment?.SHARD);
    expect(shards).toEqual(['0', '1', '2']);
  });

  it.each(ours)('%s runs a file that the source has', (_name, { entrypoint, command }) => {
    const script = (entrypoint ?? command)?.[1] ?? '';
    const source = script.replace(/^dist\//, '').replace(/\.js$/, '.ts');
    expect(existsSync(path.join(ROOT, source))).toBe(true);
  });

  it.each(ours)(
    '%s sets what its schema knows, and all that the schema demands',
    (name, { environment = {} }) => {
      const schema = SCHEMAS[kindOf(name)] ?? {};
      const unknown = Object.keys(environment).filter((setting) => !(setting in schema));
      const missing = Object.entries(schema)
        .filter(([setting, { default: usual, schema: type }]) => {
          return usual === undefined && !(setting in environment) && !type.safeParse(undefined).success;
        })
        .map(([setting]) => setting);
      expect({ unknown, missing }).toEqual({ unknown: [], missing: [] });
    },
  );

  it('pins every image', () => {
    for (const { image } of Object.values(services)) expect(image).toMatch(/:\d+\.\d+/);
  });

  it('checks the health of everything that keeps running', () => {
    const unchecked = Object.entries(services).filter(
      ([name, service]) => !ONE_OFF.has(name) && service.healthcheck === undefined,
    );
    expect(unchecked.map(([name]) => name)).toEqual([]);
  });

  it('enters accounts when it is asked to, and never by itself', () => {
    const { entrypoint, command, profiles, restart } = services.accounts ?? {};
    expect({ entrypoint, command, profiles, restart }).toEqual({
      entrypoint: ['node', 'dist/apps/operations/accounts.js'],
      command: ['list'],
      profiles: ['accounts'],
      restart: 'no',
    });
    expect(OPERATIONS).toContain('docker compose run --rm -T accounts add');
  });

  it('names every secret that has to be set in docs/operations.md', () => {
    const wanted = [...file.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name ?? '');
    expect(wanted.filter((name) => !OPERATIONS.includes(`\`${name}\``))).toEqual([]);
  });
});
