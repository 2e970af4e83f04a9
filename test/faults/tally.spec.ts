import { describe, expect, it } from '@jest/globals';
import { Findings } from './checker/findings.js';
import { reportOf } from './report.js';
import type { FaultRound } from './rounds.js';
import { shortcomings, type Tally } from './tally.js';

function round(done: readonly string[], missed: readonly string[] = []): FaultRound {
  return {
    kinds: [...done, ...missed],
    done,
    missed: new Map(missed.map((kind) => [kind, 'it was gone'])),
    unavailableMs: 1_000,
    createlessMs: 2_000,
    lastedMs: 3_000,
    began: 0,
    ended: 3_000,
    amiss: undefined,
  };
}

function tally(rounds: readonly FaultRound[], differing: Partial<Tally> = {}): Tally {
  const wanted = ['cut:a-b', 'kill:owner', 'pause:owner', 'kill:broker', 'clock:+5s'];
  const notRun = new Map([['kill:broker', 'there is none']]);
  return { wanted, isChosen: false, notRun, rounds, ...differing };
}

function report(rounds: readonly FaultRound[], isWhole = true): string[] {
  return reportOf({
    tally: tally(rounds),
    findings: new Findings(),
    requests: 0,
    commands: 0,
    codes: new Map(),
    streams: 0,
    ignored: new Map(),
    recovery: undefined,
    isWhole,
  });
}

describe('a report', () => {
  const lines = report([round(['kill:owner']), round(['kill:owner'], ['pause:owner'])]);

  it('counts only the faults that happened, and lists those missed, not run and not reached separately', () => {
    expect(lines.filter((line) => /^ {2}\w/.test(line))).toEqual([
      '  kill:owner                      2  1.0 s, creates 2.0 s',
    ]);
    expect(lines).toContain('MISSED pause:owner: 1 times, it was gone');
    expect(lines).toContain('NOT RUN kill:broker: there is none');
    expect(lines).toContain('NOT REACHED in the time, 2 kinds: cut:a-b, clock:+5s');
    expect(lines.at(-1)).toMatch(/^2 faults in 2 rounds \(1 missed, 1 kinds not run\)/);
  });

  it('says that it is incomplete', () => {
    expect(lines.join()).not.toContain('INTERRUPTED');
    expect(report([round(['kill:owner'])], false).join()).toContain('INTERRUPTED');
  });
});

describe('a campaign', () => {
  it('without a single fault has checked too little', () => {
    expect(shortcomings(tally([]), undefined)).toEqual(['not one fault was done']);
    expect(shortcomings(tally([round([], ['kill:owner'])]), undefined)).toEqual(['not one fault was done']);
    expect(report([]).join()).toContain('LOOKED AT TOO LITTLE: not one fault was done');
  });

  it('may miss a kind, unless that kind was requested and missed every time', () => {
    const rounds = [round(['kill:owner'], ['pause:owner']), round([], ['pause:owner'])];
    expect(shortcomings(tally(rounds), undefined)).toEqual([]);
    expect(shortcomings(tally(rounds, { isChosen: true }), undefined)).toEqual([
      'pause:owner was asked for and missed, 2 times of as many',
    ]);
    expect(shortcomings(tally([...rounds, round(['pause:owner'])], { isChosen: true }), undefined)).toEqual(
      [],
    );
  });

  it('with a check that had nothing to check has checked too little', () => {
    const rounds = [round(['kill:owner'])];
    const missing = shortcomings(tally(rounds), new Map());
    expect(missing).toContain('there was nothing of this to check: awards');
    expect(missing).toContain('there was nothing of this to check: simultaneous promises');
    const checked = new Map(missing.map((line) => [line.slice(line.indexOf(': ') + 2), 1]));
    expect(shortcomings(tally(rounds), checked)).toEqual([]);
    checked.delete('acknowledged SUBMIT');
    expect(shortcomings(tally(rounds), checked)).toEqual([
      'there was nothing of this to check: acknowledged SUBMIT',
    ]);
  });
});
