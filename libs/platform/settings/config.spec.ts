import { describe, expect, it } from '@jest/globals';
import { defineConfig, loadConfig, renderSettingsTable } from './config.js';
import { flag, httpUrl, integer, listOf, nonEmpty, oneOf, port, postgresUrl } from './setting-types.js';
import { ConfigFault, EXIT } from '../process/start-fault.js';

const definition = defineConfig({
  PORT: { schema: port(), describe: 'Where to listen', default: '8080' },
  OWNER_URLS: { schema: listOf(httpUrl()), describe: 'Base URLs of the owners' },
  SERVICE_TOKEN: {
    schema: nonEmpty(),
    describe: 'Secret that owners and gateways share',
    secret: true,
  },
  MODE: { schema: oneOf('demo', 'load').optional(), describe: 'a | b' },
});
const complete = { OWNER_URLS: 'http://127.0.0.1:1, http://127.0.0.1:2', SERVICE_TOKEN: 's' };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(definition, env);
  } catch (error) {
    if (error instanceof ConfigFault) return error.faults;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('parses, fills in defaults and freezes', () => {
    const config = loadConfig(definition, complete);
    expect(config).toEqual({
      PORT: 8080,
      OWNER_URLS: ['http://127.0.0.1:1', 'http://127.0.0.1:2'],
      SERVICE_TOKEN: 's',
      MODE: undefined,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('treats an empty variable as not set', () => {
    expect(loadConfig(definition, { ...complete, PORT: '' }).PORT).toBe(8080);
  });

  it('reports every fault in one line each', () => {
    expect(faultsOf({ PORT: '99999', MODE: 'x' })).toEqual([
      'PORT="99999" is wrong: it must be a whole number from 1 to 65535',
      'OWNER_URLS is not set: Base URLs of the owners',
      'SERVICE_TOKEN is not set: Secret that owners and gateways share',
      'MODE="x" is wrong: it must be one of demo, load',
    ]);
    expect(faultsOf({ ...complete, OWNER_URLS: 'nonsense' })).toEqual([
      'OWNER_URLS="nonsense" is wrong: it must be an http or https URL',
    ]);
  });

  it('never shows the value of a wrong secret', () => {
    const secret = defineConfig({ KEY: { schema: integer(0), describe: 'key', secret: true } });
    expect(() => loadConfig(secret, { KEY: 'hunter2' })).toThrow(/^KEY is wrong: it must be a whole number/);
  });

  it('has the exit code of a configuration error', () => {
    expect(new ConfigFault(['x']).exitCode).toBe(78);
    expect(EXIT.config).toBe(78);
  });
});

describe('setting types', () => {
  it.each([
    [integer(0, 10), ['0', '10'], ['11', '-1', '1.5', '1e1', '0x1', ' 1', 'NaN', '99999999999999999']],
    [port(), ['1', '65535'], ['0', '65536']],
    [flag(), ['true', 'false'], ['1', 'yes', 'TRUE']],
    [postgresUrl(), ['postgres://u:p@h:5/d', 'postgresql://h/d'], ['mysql://h/d', 'postgres:', 'h:5432']],
    [
      postgresUrl(),
      ['postgres://h/d?sslmode=require'],
      [
        'postgres://h/d?options=-csearch_path%3Dx',
        'postgres://h/d?sslmode=require&%6fptions=',
        'postgres://h/d?options',
      ],
    ],
  ])('%#', (schema, good, bad) => {
    expect(good.filter((value) => !schema.safeParse(value).success)).toEqual([]);
    expect(bad.filter((value) => schema.safeParse(value).success)).toEqual([]);
  });

  it('the flag "false" is false', () => {
    expect(flag().parse('false')).toBe(false);
  });
});

it('the settings table shows defaults and required settings', () => {
  const text = renderSettingsTable({ Shared: { gateway: definition } });
  expect(text).toMatch(
    /^# Settings\n\nMade by `npm run docs:settings` from the schemas of the apps; do not edit.\n/,
  );
  expect(text.slice(text.indexOf('## '))).toBe(
    [
      '## gateway',
      '',
      '| Variable | Default | Meaning |',
      '| - | - | - |',
      '| `PORT` | `8080` | Where to listen |',
      '| `OWNER_URLS` | required | Base URLs of the owners |',
      '| `SERVICE_TOKEN` | required | Secret that owners and gateways share (secret) |',
      '| `MODE` | none | a \\| b |',
      '',
    ].join('\n'),
  );
});

it('the settings table lists a setting of three apps of a group once, with references', () => {
  const shared = { PORT: definition.PORT };
  const own = { MODE: definition.MODE };
  const text = renderSettingsTable({ 'Shared here': { a: shared, b: shared, c: { ...shared, ...own } } });
  expect(text.slice(text.indexOf('## '))).toBe(
    [
      '## Shared here',
      '',
      '| Variable | Default | Meaning |',
      '| - | - | - |',
      '| `PORT` | `8080` | Where to listen |',
      '',
      ...['## a', '', '[Shared here](#shared-here): `PORT`.', ''],
      ...['## b', '', '[Shared here](#shared-here): `PORT`.', ''],
      ...['## c', '', '[Shared here](#shared-here): `PORT`.', ''],
      '| Variable | Default | Meaning |',
      '| - | - | - |',
      '| `MODE` | none | a \\| b |',
      '',
    ].join('\n'),
  );
});
