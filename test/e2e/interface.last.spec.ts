import 'reflect-metadata';
import path from 'node:path';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { httpDocument } from '#libs/auction/api/documents/http-document.js';
import { streamDocument } from '#libs/auction/api/documents/stream-document.js';
import { CONTROLLERS } from '#apps/gateway/auction/auction.module.js';
import type { OperationExamples } from '#libs/edge/documents/about.js';
import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';
import {
  fieldsIn,
  fieldsSeen,
  httpExamples,
  readRecording,
  streamExamples,
  TOUR,
} from '#libs/testing/interface/examples.js';
import { HttpCheck } from '#libs/testing/interface/http-check.js';
import { StreamCheck } from '#libs/testing/interface/stream-check.js';
import { UNSEEN } from '../documents/unseen.js';

/** `latest` uses the latest full run, and rewrites the examples from its tour; otherwise this run is checked. */
const refreshed = process.env.REFRESH_EXAMPLES;
/** Every spec of its tier has run. */
const isWhole = process.env.E2E_RUN === 'full';
const isFull = (isWhole && process.env.TIER === 'full') || refreshed !== undefined;
const folder =
  refreshed === undefined
    ? (process.env.EXCHANGES_DIR ?? '')
    : `node_modules/.cache/sotto/exchanges/${refreshed}`;
const EXAMPLES = 'docs/examples';

const tour = readRecording(path.join(process.env.EXCHANGES_DIR ?? '', TOUR));
const others = readRecording(folder);
const exchanges = [...tour.exchanges, ...others.exchanges];
const frames = [...tour.frames, ...others.frames];
const http = httpDocument(endpointSpecsOf(CONTROLLERS));
const stream = streamDocument();
const httpCheck = new HttpCheck(http);
const streamCheck = new StreamCheck(stream);
const httpFaults = exchanges.flatMap((exchange) => httpCheck.faults(exchange));
const streamFaults = streamCheck.faults(frames);

function write(name: string, examples: object): void {
  writeFileSync(path.join(EXAMPLES, `${name}.json`), `${JSON.stringify(examples, null, 2)}\n`);
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(path.join(EXAMPLES, name), 'utf8'));
}

if (refreshed !== undefined) {
  if (others.exchanges.length === 0)
    throw new Error('no full run has been kept, and refusals come from there');
  for (const [name, examples] of Object.entries(httpExamples(http, tour, others))) write(name, examples);
  const names = Object.values(stream.channels.stream.messages).map((message) => message.name);
  write('stream', streamExamples(tour, others, names));
}

describe('what the tests have seen', () => {
  it('over HTTP is in the OpenAPI document: every status, code, header and field', () => {
    expect([...new Set(httpFaults)]).toEqual([]);
  });

  it('on streams is in the AsyncAPI document: every message, field and close code', () => {
    expect([...new Set(streamFaults)]).toEqual([]);
  });
});

if (isWhole) {
  describe('every operation', () => {
    it('has succeeded in one of the tiers', () => {
      const done = httpCheck.parts.filter((part) => /^\w+ 2\d\d$/.test(part));
      expect(done.filter((part) => !httpCheck.shown.has(part))).toEqual([]);
    });
  });
}

/** Only a run of both tiers can prove that no test has seen something. */
if (isFull) {
  describe('what the documents describe', () => {
    const shown = new Set([...httpCheck.shown, ...streamCheck.shown]);
    const ofHttp = new Set(httpCheck.parts);
    const parts = [...httpCheck.parts, ...streamCheck.parts.filter((part) => !ofHttp.has(part))];
    const isExcused = (part: string): boolean => UNSEEN.some(({ what }) => matches(what, part));

    it('was seen by a test, or is in the list of what no test can see', () => {
      expect(parts.filter((part) => !shown.has(part) && !isExcused(part)).sort()).toEqual([]);
    });

    it('is in that list only while no test sees it', () => {
      const stale = UNSEEN.filter(({ what, byChance = false }) => {
        const meant = parts.filter((part) => matches(what, part));
        return meant.length === 0 || (!byChance && meant.every((part) => shown.has(part)));
      });
      expect(stale).toEqual([]);
    });
  });

  describe('the examples', () => {
    it('have no field that the service does not return today', () => {
      const seen = fieldsSeen(http, exchanges);
      const old = readdirSync(EXAMPLES)
        .filter((file) => file !== 'stream.json')
        .flatMap((file) =>
          Object.entries((read(file) as OperationExamples).responses).flatMap(([key, example]) => {
            const known = seen.get(`${path.basename(file, '.json')} ${key}`);
            const text = typeof example === 'string' ? example : JSON.stringify(example);
            return fieldsIn(text)
              .filter((field) => known?.has(field) !== true)
              .map((field) => `${file} ${key} ${field}`);
          }),
        );
      expect([...new Set(old)]).toEqual([]);
    });

    it('of the stream have no field that the service does not send today', () => {
      const known = new Set(frames.flatMap((frame) => ('text' in frame ? jsonFieldsIn(frame.text) : [])));
      const examples = Object.values(read('stream.json') as object);
      const told = examples.flatMap((example) => fieldsIn(JSON.stringify(example)));
      expect(told.filter((field) => !known.has(field))).toEqual([]);
    });
  });
}

/** Tests also send texts that are not JSON. */
function jsonFieldsIn(text: string): string[] {
  try {
    return fieldsIn(text);
  } catch {
    return [];
  }
}

/** A star matches anything. */
function matches(what: string, part: string): boolean {
  const [start = '', ...rest] = what.split('*');
  if (rest.length === 0) return what === part;
  const end = rest.at(-1) ?? '';
  return part.length >= start.length + end.length && part.startsWith(start) && part.endsWith(end);
}
